"""What one event costs in BPF, by the kernel's own account (bpf_stats)."""

import json
import os
from dataclasses import dataclass

import goals
from commands import Failed, checked, make_file
from interval import interval
from table import line


@dataclass(frozen=True)
class Event:
    name: str
    ours: tuple       # programs that see one of them, as far as the kernel keeps their names
    empty: tuple      # those that do nothing on the same hooks (empty.bpf.c)
    run: tuple        # a run that is full of them; none: the storm of faults
    most_ns: int      # the goal, net; None: there is none


COLD_FAULTS = ("--case", "cold", "--strategy", "mmap-random")
EVENTS = [
    Event("fault, mapped (storm)", ("on_user_fault__", "on_minor_fault_"), ("none_user_fault", "none_minor"), (),
          goals.FAULT_NS),
    Event("fault, read from the device", ("on_user_fault__", "on_major_fault_"), ("none_user_fault", "none_major"),
          COLD_FAULTS, goals.FAULT_NS),
    Event("pread64 of 16 KiB, warm", ("on_call_enters_", "on_call_exits__"), ("none_enter", "none_exit"),
          ("--case", "warm", "--strategy", "pread"), None),
    Event("page added, order 0, one at a time", ("on_page_added__",), ("none_added",), COLD_FAULTS,
          goals.PAGE_ADDED_NS),
    Event("page added, order 0, in a row", ("on_page_added__",), ("none_added",),
          ("--case", "cold", "--strategy", "mmap-random-willneed", "--read-size", "1M", "--reads-per-op", "1"),
          goals.PAGE_ADDED_NS),
]


def nanoseconds(account, names):
    """Of one event: the programs' means, added up. Fails where one did not run: its time would be missing."""
    programs = account.get("programs") or {}
    if idle := [n for n in names if programs.get(n, {"runs": 0})["runs"] == 0]:
        raise Failed(f"{', '.join(idle)} did not run")
    return sum(programs[n]["ns"] / programs[n]["runs"] for n in names)


def bpf_time(program, timer, storm, folder, rounds, seconds):
    print("nanoseconds of BPF per event (bpf_stats), net of programs that do nothing; raw beside it")
    path = os.path.join(folder, "timed")
    make_file(path, 1 << 30)
    results = {}
    for event in EVENTS:
        if event.run:
            run = [program, "run", "--file", path, "--user", "0", "--threads", "1", "--align", "4K", "--duration",
                   str(seconds), "--reps", "1", "--ceiling", "off", *event.run]
            without, observed = [*run, "--probes", "off"], [*run, "--probes", "paired"]
        else:
            without, observed = [storm, "--untraced"], [storm]
        net, raw = [], []
        try:
            for _ in range(rounds):
                none = json.loads(checked([timer, "--empty", "--", *without]))
                all_on = json.loads(checked([timer, "--", *observed]))
                raw.append(nanoseconds(all_on, event.ours))
                net.append(raw[-1] - nanoseconds(none, event.empty))
        except Failed as failure:
            results[event.name] = {"unavailable": str(failure)}
            print(f"  {event.name:44} n/a: {failure}", flush=True)
            continue
        results[event.name] = result = {"net_ns": interval(net), "raw_ns": interval(raw)}
        words = ""
        if event.most_ns is not None:
            result |= {"goal_ns": event.most_ns, "verdict": goals.at_most(event.most_ns, result["net_ns"])}
            words = f"<= {event.most_ns} ns: {result['verdict']}"
        print(line(event.name + ", net", result["net_ns"], 0, words))
        print(line(event.name + ", raw", result["raw_ns"], 0), flush=True)
    os.unlink(path)
    return results
