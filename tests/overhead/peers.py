"""Other ways to ask a part of the same questions, and the proof that they were watching.

A peer runs around a command or beside it for the command's whole life. `sees` names the events that it counts;
`counts` reads from what it printed how many there were. Too few, and its ratio says nothing.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from typing import Callable

import commands
import rows

CALL_EVENTS = tuple(rows.CALLS.values())
READY_S = 20

# The events that our probes attach to, where perf can count them.
TRACEPOINTS = ("raw_syscalls:sys_enter,raw_syscalls:sys_exit,exceptions:page_fault_user,minor-faults,major-faults,"
               "filemap:mm_filemap_add_to_page_cache,filemap:mm_filemap_delete_from_page_cache,"
               "mmap_lock:mmap_lock_start_locking,mmap_lock:mmap_lock_acquire_returned,mmap_lock:mmap_lock_released,"
               "block:block_rq_issue,block:block_rq_complete,vmscan:mm_vmscan_direct_reclaim_begin,"
               "vmscan:mm_vmscan_direct_reclaim_end,vmscan:mm_vmscan_memcg_reclaim_begin,"
               "vmscan:mm_vmscan_memcg_reclaim_end")

MADVISE_ERRNO = """
tracepoint:syscalls:sys_enter_madvise { @advice[tid] = args->behavior + 1; }
tracepoint:syscalls:sys_exit_madvise /@advice[tid]/ {
  @calls[@advice[tid] - 1, args->ret] = count();
  delete(@advice[tid]);
}
"""

FAULT_LATENCY = """
tracepoint:exceptions:page_fault_user { @start[tid] = nsecs; }
software:minor-faults:1 /@start[tid]/ { @minor_ns = hist(nsecs - @start[tid]); delete(@start[tid]); }
software:major-faults:1 /@start[tid]/ { @major_ns = hist(nsecs - @start[tid]); delete(@start[tid]); }
"""


def call_table(calls_column, name_column):
    """Counts from lines of columns, summed by the call's name."""
    def counts(text):
        seen = {}
        for words in map(str.split, text.splitlines()):
            if len(words) > calls_column and words[calls_column].isdigit() and words[name_column] in CALL_EVENTS:
                seen[words[name_column]] = seen.get(words[name_column], 0) + int(words[calls_column])
        return seen
    return counts


def perf_stat_counts(text):
    counted = {}
    for fields in (line.split(",") for line in text.splitlines()):
        if len(fields) > 2 and fields[0].isdigit():
            counted[fields[2]] = int(fields[0])
    seen = {"faults": counted.get("minor-faults", 0) + counted.get("major-faults", 0),
            "block": counted.get("block:block_rq_complete", 0),
            "reclaim": sum(counted.get(f"vmscan:mm_vmscan_{which}_reclaim_begin", 0) for which in ("direct", "memcg"))}
    # It tells calls apart by nothing: all of them are at least as many as any one.
    return {**seen, **{call: counted.get("raw_syscalls:sys_enter", 0) for call in CALL_EVENTS}}


def madvise_counts(text):
    # MADV_WILLNEED is 3.
    return {"madvise": sum(map(int, re.findall(r"^@calls\[3, -?\d+\]: (\d+)$", text, re.M)))}


def histogram_total(event):
    """Of bpftrace's bins, "[1K, 2K) 757 |@@@", and of libbpf-tools', "0 -> 1 : 0 |"."""
    def counts(text):
        return {event: sum(map(int, re.findall(r"(?:[\])]|:)\s+(\d+)\s+\|", text)))}
    return counts


def reclaim_lines(text):
    return {"reclaim": len(re.findall(r"^\d\d:\d\d:\d\d ", text, re.M))}


@dataclass(frozen=True)
class Peer:
    name: str
    package: str
    answers: str
    probe: str     # of ours, that answers the same question; None: it answers less than any
    sees: tuple    # events
    counts: Callable
    around: Callable = None  # (file for its output, script of the command) -> command
    beside: tuple = None     # command that ends on an interrupt


def bpftrace(program):
    return lambda out, script: ["bpftrace", "-o", out, "-c", "/bin/sh " + script, "-e", program]


PEERS = [
    Peer("strace -f -c", "strace", "calls, errors and time by call; no errno, no latency histogram", "syscalls",
         CALL_EVENTS, call_table(3, -1), around=lambda out, script: ["strace", "-f", "-c", "-o", out, script]),
    Peer("perf trace -s", "linux-perf", "calls, errors, least, mean and largest time by thread and call", "syscalls",
         CALL_EVENTS, call_table(1, 0), around=lambda out, script: ["perf", "trace", "-s", "-o", out, "--", script]),
    Peer("syscount -L", "libbpf-tools", "calls and time by call, of the whole machine; no errors", "syscalls",
         CALL_EVENTS, call_table(1, 0), beside=("syscount", "-L", "-T", "500")),
    Peer("perf stat -e", "linux-perf", "how often our events happen; no cause, latency, errno or file", None,
         (*CALL_EVENTS, "faults", "block", "reclaim"), perf_stat_counts,
         around=lambda out, script: ["perf", "stat", "-x,", "-o", out, "-e", TRACEPOINTS, "--", script]),
    Peer("bpftrace, madvise", "bpftrace", "madvise by advice and errno", "syscalls", ("madvise",), madvise_counts,
         around=bpftrace(MADVISE_ERRNO)),
    Peer("bpftrace, faults", "bpftrace", "fault latency, minor and major; not what a fault waited for", "faults",
         ("faults",), histogram_total("faults"), around=bpftrace(FAULT_LATENCY)),
    Peer("biolatency", "libbpf-tools", "latency of every request of the machine; no file, size or depth", "block_io",
         ("block",), histogram_total("block"), beside=("biolatency",)),
    Peer("drsnoop", "libbpf-tools", "each direct reclaim of the machine, its time and pages; not that of a cgroup's limit", "reclaim",
         ("reclaim",), reclaim_lines, beside=("drsnoop",)),
]


def program_of(peer):
    return peer.beside[0] if peer.beside else peer.around("", "")[0]


def versions():
    """What each peer says of itself; None: it is not installed."""
    found = {}
    for peer in PEERS:
        program = program_of(peer)
        try:
            said = commands.output([program, "--version"])
            found[peer.name] = said.splitlines()[0] if said else ""
        except commands.Failed:
            found[peer.name] = None
    return found


def with_tracefs(command):
    """In a mount namespace of its own, where tracefs is mounted for as long as the command runs."""
    mount = "mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing; exec \"$@\""
    return ["unshare", "--mount", "sh", "-c", mount, "sh", *command]


def lost_events(text):
    return sum(map(int, re.findall(r"\blost (\d+) events", text, re.I)))


def unobserved(peer, seen, due):
    """Why a peer that saw so many events can't have watched all the time; None: it did, or none were due."""
    for event in peer.sees:
        # A tenth may go to races at both ends, and to faults inside the kernel.
        if seen.get(event, 0) < 0.9 * due.get(event, 0):
            return f"saw {seen.get(event, 0)} of {due[event]} {event}"
    return None


def run_around(peer, folder, script):
    out = os.path.join(folder, "peer.out")
    said = commands.output(with_tracefs(peer.around(out, script)))
    with open(out, errors="replace") as text:
        return said, text.read()


def run_beside(peer, folder, script):
    out = os.path.join(folder, "peer.out")
    with open(out, "w") as sink:
        process = subprocess.Popen(with_tracefs(["stdbuf", "-oL", *peer.beside]), stdout=sink, stderr=sink)
        try:
            deadline = time.monotonic() + READY_S
            while "Tracing" not in open(out).read():
                if process.poll() is not None or time.monotonic() > deadline:
                    said = open(out).read().strip().splitlines()
                    raise commands.Failed(f"did not start: {said[0] if said else 'silent'}")
                time.sleep(0.02)
            said = commands.output([script])
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            try:
                process.wait(READY_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    with open(out, errors="replace") as text:
        return said, text.read()


def run_under(peer, folder, command):
    """Output of the command, and what the peer printed. Fails with the reason."""
    if not shutil.which(program_of(peer)):
        raise commands.Failed(f"not installed (package {peer.package})")
    # bpftrace -c splits at spaces and starts nothing but binaries, so the command goes into a shell's script.
    script = os.path.join(folder, "measured")
    with open(script, "w") as out:
        out.write(f"#!/bin/sh\nexec {shlex.join(command)}\n")
    os.chmod(script, 0o755)
    return (run_around if peer.around else run_beside)(peer, folder, script)
