#!/usr/bin/env python3
"""Whether a file is what report --format trace promises: Chrome trace events that Perfetto can draw.

    trace_check.py FILE      prints the number of events by category; exit code 1 says what is wrong

Checked: every event has the keys of its kind; times are exact to the nanosecond, not negative, and do not
run backwards on any track; what stands on one track nests; each track and process has one name; a device
read stands on a track of its thread's own.
"""

import collections
import decimal
import json
import sys

CATEGORIES = {"fault", "hint", "read", "device"}
KEYS = {
    "M": {"name", "pid", "tid", "args"},
    "X": {"name", "cat", "pid", "tid", "ts", "dur", "args"},
    "i": {"name", "cat", "pid", "tid", "ts", "s"},
}
NEXT_LANE = 1 << 23


def require(holds, *words):
    if not holds:
        sys.exit("trace_check: " + " ".join(str(word) for word in words))


def check_nesting(track, events):
    """Events in the order of the file, which is that of their beginnings."""
    open_ends, last = [], decimal.Decimal(-1)
    for event in events:
        begin, end = event["ts"], event["ts"] + event["dur"]
        require(begin >= last, "time runs backwards on", track, event)
        last = begin
        while open_ends and open_ends[-1] <= begin:
            open_ends.pop()
        require(not open_ends or end <= open_ends[-1], "neither nested nor apart on", track, event)
        open_ends.append(end)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        document = json.load(file, parse_float=decimal.Decimal, parse_int=decimal.Decimal)
    tracks, names = collections.defaultdict(list), {}
    for event in document["traceEvents"]:
        require(event.get("ph") in KEYS, "unknown kind", event)
        missing = KEYS[event["ph"]] - event.keys()
        require(not missing, "lacks", sorted(missing), event)
        if event["ph"] == "M":
            key = (event["name"], event["pid"], event["tid"])
            require(key not in names, "named twice", key)
            names[key] = event["args"]
            continue
        require(event["ts"] >= 0, "negative time", event)
        require(event["ts"] * 1000 % 1 == 0, "finer than a nanosecond", event)
        if event["ph"] != "X":
            continue
        require(event["dur"] >= 0, "negative length", event)
        require(event["cat"] in CATEGORIES, "unknown category", event)
        require((event["cat"] == "device") == (event["tid"] >= NEXT_LANE), "on a wrong track", event)
        tracks[event["pid"], event["tid"]].append(event)
    for (pid, tid), events in tracks.items():
        require(("thread_name", pid, tid) in names, "a track without a name:", pid, tid)
        require(("process_name", pid, 0) in names, "a process without a name:", pid)
        check_nesting((pid, tid), events)
    counts = collections.Counter(event["cat"] for events in tracks.values() for event in events)
    print(" ".join(f"{category}={counts[category]}" for category in sorted(CATEGORIES)))


main()
