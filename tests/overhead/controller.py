"""What the controller takes for itself: memory, and the time to load and attach."""

import json
import os
import time

from commands import checked, make_file
from interval import interval
from table import line


def memory_of_controller(program, timer, folder):
    """Peak resident memory of the controller with the ledger of a 64 GiB file."""
    path = os.path.join(folder, "sparse")
    with open(path, "wb") as out:
        out.truncate(64 << 30)
    account = json.loads(checked([timer, "--", program, "run", "--file", path, "--user", "0", "--case", "as-is",
                                  "--strategy", "mmap-random", "--threads", "4", "--reps", "1", "--duration", "1",
                                  "--ceiling", "off"]))
    os.unlink(path)
    mib = account["peak_rss_bytes"] / (1 << 20)
    print(f"peak resident memory of the controller with a 64 GiB file: {mib:.1f} MiB", flush=True)
    return {"file_bytes": 64 << 30, "peak_rss_bytes": account["peak_rss_bytes"]}


def time_to_attach(program, folder, rounds):
    """Wall time that the probes add to a run of one operation: load, verify, attach, detach, unload."""
    path = os.path.join(folder, "tiny")
    make_file(path, 4 << 20)
    base = ["--ceiling", "off", "--file", path, "--user", "0", "--case", "as-is", "--strategy", "pread", "--threads",
            "1", "--reps", "1", "--ops", "1"]

    def seconds_of(probes):
        start = time.monotonic()
        checked([program, "run", *base, "--probes", probes])
        return time.monotonic() - start

    result = interval([(seconds_of("on") - seconds_of("off")) * 1000 for _ in range(rounds)])
    print("milliseconds that the probes add to a run: load, verify, attach, detach, unload, one more repetition")
    print(line("all probes", result, 0), flush=True)
    os.unlink(path)
    return result
