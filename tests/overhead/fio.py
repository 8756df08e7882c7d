"""What our reads cost against fio's, at the same job."""

import json
import os
import sys

from commands import checked, make_file
from interval import interval
from table import line

FILE_BYTES = {"warm": 256 << 20, "cold": 1 << 30}

# fio's engine, our strategy for the same system calls, reads in flight per thread. fio advises RANDOM on
# its mapping and its descriptor for a random job, hence mmap-random.
JOBS = [("psync", "pread", 1), ("mmap", "mmap-random", 1), ("io_uring", "io_uring", 16)]


def against_fio(program, folder, rounds, seconds):
    """By iotrace's own --fio: each round measures the row and then fio's job, in the same state of the cache."""
    print("reads per second, iotrace / fio, 4 KiB random (1 or more: at least as fast)")
    results = {}
    record = os.path.join(folder, "fio.json")
    for case, size in FILE_BYTES.items():
        path = os.path.join(folder, case)
        make_file(path, size)
        for engine, strategy, depth in JOBS:
            for threads in (1, 4):
                name = f"{case} {engine}/{strategy} T{threads:02}"
                ratios = []
                for _ in range(rounds):
                    checked([program, "run", "--file", path, "--user", "0", "--probes", "off", "--case", case,
                             "--strategy", strategy, "--threads", str(threads), "--read-size", "4K", "--align", "4K",
                             "--reads-per-op", str(depth), "--reps", "1", "--duration", str(seconds), "--fio",
                             "--ceiling", "off", "-o", record])
                    with open(record) as measured:
                        row = next(r for r in json.load(measured)["rows"] if not r["control"])
                    if row["error"] or not row["fio"]:
                        sys.exit(f"{name}: {row['error'] or row['unavailable']['fio']}")
                    ratios.append(row["fio"]["ratio"])
                results[name] = interval(ratios)
                print(line(name, results[name]), flush=True)
        os.unlink(path)
    return results
