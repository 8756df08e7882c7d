"""The parts of `make overhead` that measure nothing: intervals, goals, what a peer printed, tables."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import bpf_events
import commands
import goals
import observe
import paragraph
import peers
import rows
import table
from interval import interval


def between(low, high, n=6):
    return {"median": (low + high) / 2, "low": low, "high": high, "n": n}


UNPROVEN = {"median": 0.99, "low": None, "high": None, "n": 5}


def peer_named(name):
    return next(peer for peer in peers.PEERS if peer.name == name)


class IntervalTest(unittest.TestCase):
    def test_of_six_values_is_their_range(self):
        self.assertEqual(interval([3, 1, 2, 6, 5, 4]), {"median": 3.5, "low": 1, "high": 6, "n": 6})

    def test_of_five_values_there_is_none(self):
        self.assertEqual(interval([1, 2, 3, 4, 5]), {"median": 3, "low": None, "high": None, "n": 5})

    def test_of_nine_values_leaves_one_out_at_each_end(self):
        self.assertEqual(interval(range(1, 10)), {"median": 5, "low": 2, "high": 8, "n": 9})


class GoalsTest(unittest.TestCase):
    def test_a_ratio_reaches_a_goal_with_its_lower_end(self):
        self.assertEqual(goals.at_least(0.98, between(0.98, 1.02)), "reached")
        self.assertEqual(goals.at_least(0.98, between(0.97, 0.99)), "cannot tell")
        self.assertEqual(goals.at_least(0.98, between(0.95, 0.979)), "missed")
        self.assertEqual(goals.at_least(0.98, UNPROVEN), "cannot tell")

    def test_a_time_reaches_a_goal_with_its_upper_end(self):
        self.assertEqual(goals.at_most(240, between(200, 240)), "reached")
        self.assertEqual(goals.at_most(240, between(200, 241)), "cannot tell")
        self.assertEqual(goals.at_most(240, between(241, 300)), "missed")
        self.assertEqual(goals.at_most(240, UNPROVEN), "cannot tell")

    def test_dearer_is_who_leaves_less_throughput(self):
        self.assertEqual(goals.not_dearer(between(0.9, 1), between(0.3, 0.4)), "reached")
        self.assertEqual(goals.not_dearer(between(0.3, 0.4), between(0.9, 1)), "missed")
        self.assertEqual(goals.not_dearer(between(0.9, 1), between(0.95, 1)), "cannot tell")
        self.assertEqual(goals.not_dearer(between(0.9, 1), UNPROVEN), "cannot tell")

    def test_one_lost_event_is_too_many(self):
        self.assertEqual((goals.none_lost(0), goals.none_lost(1)), ("reached", "missed"))


class PeersTest(unittest.TestCase):
    def counts(self, name, text):
        return peer_named(name).counts(text)

    def test_strace_with_and_without_errors(self):
        self.assertEqual(self.counts("strace -f -c", """
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 36.36    0.272542       24776        11           wait4
  5.04    0.037805           6      6160           pread64
  3.57    0.026729           4      5486      5480 madvise
------ ----------- ----------- --------- --------- ----------------
100.00    0.749523          47     15657      5558 total
"""), {"pread64": 6160, "madvise": 5486})

    def test_perf_trace_sums_over_threads(self):
        self.assertEqual(self.counts("perf trace -s", """
 iotrace-worker (5888), 6420 events, 18.8%
   syscall            calls  errors  total       min       avg       max       stddev
   madvise             3169      0    35.332     0.006     0.011     0.112      0.85%
 iotrace-worker (5892), 9138 events, 26.8%
   madvise                2      0     0.030     0.030     0.030     0.030      0.00%
   pread64             4544      0    80.234     0.007     0.018     0.785      1.48%
"""), {"madvise": 3171, "pread64": 4544})

    def test_syscount(self):
        self.assertEqual(self.counts("syscount -L", """Tracing syscalls, printing top 500... Ctrl+C to quit.
[22:44:35]
SYSCALL                   COUNT        TIME (us)
futex                       968     10584847.842
pread64                   61924      1361764.775
"""), {"pread64": 61924})

    def test_perf_stat(self):
        seen = self.counts("perf stat -e", """# started on Mon Nov 30 22:44:27 2026

4910,,exceptions:page_fault_user,882368836,100.00,,
107731,,raw_syscalls:sys_enter,882368836,100.00,,
5846,,minor-faults,882368836,100.00,,
480,,major-faults,882368836,100.00,,
2415,,block:block_rq_complete,882368836,100.00,,
<not supported>,,vmscan:mm_vmscan_direct_reclaim_begin,0,100.00,,
5,,vmscan:mm_vmscan_memcg_reclaim_begin,882368836,100.00,,
""")
        self.assertEqual((seen["faults"], seen["block"], seen["reclaim"], seen["pread64"]), (6326, 2415, 5, 107731))

    def test_bpftrace(self):
        self.assertEqual(self.counts("bpftrace, madvise", """Attaching 2 probes...

@calls[1, 0]: 5
@calls[3, -22]: 20
@calls[3, 0]: 21506
"""), {"madvise": 21526})
        self.assertEqual(self.counts("bpftrace, faults", """Attaching 3 probes...
@major_ns: 
[16K, 32K)            13 |                                                    |
[32K, 64K)           787 |@@@@@@@@@@                                          |

@minor_ns: 
[0]                    1 |                                                    |
[2K, 4K)             200 |@@@@@@@@@@@@@@@@                                    |
"""), {"faults": 1001})

    def test_libbpf_tools(self):
        self.assertEqual(self.counts("biolatency", """Tracing block device I/O... Hit Ctrl-C to end.

     usecs               : count    distribution
         8 -> 15         : 0        |                                        |
        16 -> 31         : 759      |*****                                   |
        32 -> 63         : 5706     |****************************************|
"""), {"block": 6465})
        self.assertEqual(self.counts("drsnoop", """Tracing direct reclaim events... Hit Ctrl-C to end.
TIME     COMM             TID     LAT(ms) PAGES
16:12:59 iotrace          79104      0.04    62
"""), {"reclaim": 1})

    def test_who_saw_too_little_was_not_watching(self):
        strace = peer_named("strace -f -c")
        self.assertEqual(peers.unobserved(strace, {"pread64": 89}, {"pread64": 100}), "saw 89 of 100 pread64")
        self.assertIsNone(peers.unobserved(strace, {"pread64": 90}, {"pread64": 100, "faults": 5}))
        self.assertEqual(peers.unobserved(strace, {}, {"madvise": 1}), "saw 0 of 1 madvise")

    def test_lost_events_are_added_up(self):
        self.assertEqual(peers.lost_events("Lost 23 events\nLOST 7 events!\nnothing lost"), 30)

    def test_each_that_answers_a_probes_question_names_the_probe(self):
        for peer in peers.PEERS:
            self.assertTrue(peer.answers and (peer.around is None) != (peer.beside is None), peer.name)
            self.assertIn(peer.probe, (None, "syscalls", "faults", "block_io", "reclaim"))


class RowsTest(unittest.TestCase):
    ROW = {"strategy": "pread", "case": "cold", "threads": 4, "error": None, "control": False, "read_size_bytes": 16384,
           "reads_per_op": 16, "requested_bytes": 2 * 16 * 16384, "device_bytes": 4096,
           "rusage": {"minor_faults": 2, "major_faults": 0},
           "untraced": {"reps": [{"ops": 2, "seconds": 1, "drifted": False}, {"ops": 9, "seconds": 1, "drifted": True}]},
           "traced": {"reps": [{"ops": 1, "seconds": 1, "drifted": False}, {"ops": 9, "seconds": 1, "drifted": False}]},
           "probes": [{"name": "syscalls", "variant": "tp_btf", "reason": None, "lost": 3}]}

    def test_pairs_lie_next_to_each_other_and_drifted_ones_are_left_out(self):
        reading = rows.reading_of(self.ROW, True)
        self.assertEqual((reading.row, reading.plain, reading.pairs, reading.lost),
                         ("cold pread T04", [2.0], [(1.0, 2.0)], 3))

    def test_a_peer_must_have_seen_the_calls_of_all_reads(self):
        self.assertEqual(rows.events_of(self.ROW), {"pread64": 32, "block": 1})
        self.assertEqual(rows.events_of({**self.ROW, "strategy": "io_uring"}), {"io_uring_enter": 2, "block": 1})

    def test_a_probe_that_is_not_attached_has_no_ratio(self):
        off = {**self.ROW, "probes": [{"name": "faults", "variant": None, "reason": "EPERM", "lost": 0}]}
        row = observe.Row()
        observe.take_ours({"cold pread T04": row}, "faults", [rows.reading_of(off, True)])
        self.assertEqual(row.result(0.98, {"faults": "latency"})["observers"],
                         {"faults": {"answers": "latency", "left_out": ["EPERM"], "unavailable": "EPERM"}})


class BpfTimeTest(unittest.TestCase):
    ACCOUNT = {"programs": {"start": {"runs": 2, "ns": 100}, "end": {"runs": 4, "ns": 40}, "idle": {"runs": 0, "ns": 0}}}

    def test_an_event_costs_the_means_of_its_programs(self):
        self.assertEqual(bpf_events.nanoseconds(self.ACCOUNT, ("start", "end")), 60)

    def test_a_program_that_did_not_run_costs_nothing_that_is_known(self):
        for name in ("idle", "unheard_of"):
            with self.assertRaisesRegex(commands.Failed, name):
                bpf_events.nanoseconds(self.ACCOUNT, ("start", name))


class TableTest(unittest.TestCase):
    def row(self):
        row = observe.Row()
        row.plain = [100.0] * 6
        row.ratios["all probes"] = [0.99] * 6
        row.ratios["syscalls"] = [0.995] * 6
        row.ratios["strace -f -c"] = [0.1] * 6
        row.reasons["syscount -L"] = ["saw 0 of 32 pread64"]
        return row.result(0.98, {"all probes": "everything", "syscalls": "calls", "strace -f -c": "calls and time",
                                 "syscount -L": "calls of the machine", "drsnoop": "not asked here"})

    def test_each_observer_has_its_line_and_its_verdict(self):
        lines = table.row_lines("cold pread T04", self.row())
        self.assertEqual(lines[0], "cold pread T04: throughput against no observer (6 repetitions without)")
        self.assertRegex(lines[2], r"^  all probes +0\.990 \[0\.990-0\.990\]  6  0 +>= 0\.98: reached +everything")
        self.assertEqual(len(lines), 6)
        self.assertRegex(lines[4], r"strace -f -c +0\.100 .* syscalls no dearer: reached +calls and time")
        self.assertRegex(lines[5], r"syscount -L +n/a +saw 0 of 32 pread64 +calls of the machine")

    def test_the_paragraph_has_the_figures(self):
        text = paragraph.paragraph({"kernel": "6.1", "machine": "one", "throughput_observed_over_none":
                                    {"cold pread T04": self.row()}}).replace("\n", " ")
        self.assertIn("cold rows 0.99.", text)
        self.assertIn("No event was lost.", text)
        self.assertIn("strace -f -c 0.10 (cold pread T04)", text)
        self.assertNotIn("attach", text)

    def test_the_paragraph_has_what_attach_costs(self):
        text = paragraph.paragraph({"kernel": "6.1", "machine": "one", "under_attach":
                                    {"LMDB, warm": between(0.96, 1), "ms to first data": between(440, 480)}})
        self.assertIn("LMDB, warm 0.98, ms to first data 460.", text.replace("\n", " "))


if __name__ == "__main__":
    unittest.main()
