"""What is observed: rows of `iotrace run` and a storm of faults, each measured by one command per turn.

A group is what one command measures. Its `command(probes, pairs)` is that command, `readings(folder, output)`
what it measured: for each row the rates without probes and, in pairs with those, the rates with them.
"""

import json
import os
from dataclasses import dataclass, field

import goals

THREADS = (1, 4)


@dataclass
class Reading:
    """Of one row in one command. Rates are in any unit, the same one for a row."""
    row: str
    plain: list = field(default_factory=list)   # rates without iotrace's probes
    pairs: list = field(default_factory=list)   # (with, without), next to each other
    lost: int = 0
    error: str = None                           # why there are none
    not_attached: dict = field(default_factory=dict)  # probes that were to be on, and the reasons
    events: dict = field(default_factory=dict)  # how many a peer has to have seen: {"pread64": 1000}


# The events that a strategy makes, as the peers call them.
CALLS = {"pread": "pread64", "io_uring": "io_uring_enter", "mmap-random-willneed": "madvise"}


def events_of(row):
    """What a peer must have seen at least, from what the record says of a row."""
    reads = row["requested_bytes"] // row["read_size_bytes"]
    seen = {}
    if row["strategy"] in CALLS:
        # io_uring_enter takes a whole batch.
        seen[CALLS[row["strategy"]]] = reads // row["reads_per_op"] if row["strategy"] == "io_uring" else reads
    if row["strategy"].startswith("mmap") and row["case"] != "warm":
        seen["faults"] = row["rusage"]["minor_faults"] + row["rusage"]["major_faults"]
    # One request and one reclaim may be of any size.
    if row["device_bytes"]:
        seen["block"] = 1
    if row["case"] == "pressure" and row["device_bytes"]:
        seen["reclaim"] = 1
    return {event: count for event, count in seen.items() if count > 0}


def rates(repetitions):
    return [r["ops"] / r["seconds"] for r in repetitions]


def reading_of(row, probes):
    """Of a row of a record; a repetition that drifted into another state of the cache is left out."""
    reading = Reading(f"{row['case']} {row['strategy']} T{row['threads']:02}", error=row["error"])
    if reading.error:
        return reading
    untraced = row["untraced"]["reps"]
    reading.plain = rates(r for r in untraced if not r["drifted"])
    reading.events = events_of(row)
    if probes and row["traced"]:
        for with_probes, without in zip(row["traced"]["reps"], untraced):
            if not with_probes["drifted"] and not without["drifted"]:
                reading.pairs.append((*rates([with_probes]), *rates([without])))
        reading.lost = sum(p["lost"] for p in row["probes"])
        reading.not_attached = {p["name"]: p["reason"] for p in row["probes"] if p["variant"] is None}
    return reading


@dataclass(frozen=True)
class Reads:
    """Rows of one case, read by one `iotrace run`."""
    program: str
    path: str
    case: str
    strategies: tuple
    size_bytes: int
    goals: dict  # by strategy; all probes on; None: there is none
    arguments: tuple = ()

    record = "record.json"  # beside the file

    def command(self, probes, pairs=1):
        return [self.program, "run", "--file", self.path, "--user", "0", "--ceiling", "off", "--case", self.case,
                "--strategy", ",".join(self.strategies), "--threads", ",".join(map(str, THREADS)), "--reps", str(pairs),
                "--probes", probes, *self.arguments, "-o", os.path.join(os.path.dirname(self.path), self.record)]

    @staticmethod
    def probes(name):
        return "paired" if name is None else f"paired,{name}"

    no_probes = "off"

    def readings(self, output, probes):
        with open(os.path.join(os.path.dirname(self.path), self.record)) as record:
            rows = json.load(record)["rows"]
        # The A/A rows are further repetitions without an observer; they have no pairs.
        return [reading_of(row, probes and not row["control"]) for row in rows]

    def goal(self, row):
        return self.goals[row.split()[1]]


@dataclass(frozen=True)
class Storm:
    """As many faults on cached pages as one thread can take (fault_storm.cpp)."""
    program: str

    size_bytes = 0
    path = None
    no_probes = None
    name = "fault storm T01"

    def command(self, probes, pairs=1):
        return [self.program, "--windows", str(pairs), *(["--untraced"] if probes is None else probes)]

    @staticmethod
    def probes(name):
        return [] if name is None else ["--probes", name]

    def readings(self, output, probes):
        found = json.loads(output)
        without = [1 / seconds for seconds in found["untraced_s"]]
        pairs = [(1 / seconds, plain) for seconds, plain in zip(found["traced_s"], without)]
        return [Reading(self.name, without, pairs, found["lost"], not_attached=found["not_attached"],
                        events={"faults": found["untraced_faults_by_rusage"]})]

    def goal(self, row):
        return goals.FAULTS_RATIO


def groups(program, storm, folder, seconds):
    """Each group has a file of its own: 1 GiB where it is to stay cold or is faulted in, else 256 MiB."""
    length = ("--duration", str(seconds))
    cold = {s: goals.COLD_RATIO for s in ("mmap-random", "mmap-random-willneed", "pread", "io_uring")}
    warm = {"mmap-random": goals.WARM_MAPPED_RATIO, "pread": goals.WARM_PREAD_RATIO}

    def reads(case, goals_by_strategy, mib, arguments):
        return Reads(program, os.path.join(folder, case), case, tuple(goals_by_strategy), mib << 20,
                     goals_by_strategy, arguments)

    return [reads("cold", cold, 1024, length), reads("warm", warm, 256, length),
            # Ends before the faults do: each window of fault-around (64 KiB) faults once.
            reads("resident", {"mmap-random": goals.FAULTS_RATIO}, 1024, ("--ops", "400")),
            reads("pressure", {"mmap-random": None}, 256, length), Storm(storm)]
