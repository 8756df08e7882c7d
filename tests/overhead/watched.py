"""Throughput of LMDB and Lucene while `iotrace attach` watches them, and what it costs the system calls of others.

The programs are those of tests/programs: they say "ready", work off their lookups at "go", and say "done".
"""

import contextlib
import glob
import os
import re
import subprocess
import sys
import time

import goals
from commands import Failed, LONGEST_S, checked, output
from interval import interval
from table import line

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs", "targets")
LMDB_RECORDS, LUCENE_DOCUMENTS = 131071, 65537  # 256 MiB each
CALLS = 3_000_000
WARM, COLD = "warm", "cold"


def drop(folder):
    for path in glob.glob(os.path.join(folder, "*")):
        with open(path, "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def warm(folder):
    for path in glob.glob(os.path.join(folder, "*")):
        with open(path, "rb") as file:
            while file.read(1 << 20):
                pass


@contextlib.contextmanager
def watching(program, pid, interval_s=1):
    """From its first line on, which comes when it has counted for an interval, to the end."""
    watch = subprocess.Popen([program, "attach", "-p", str(pid), "-d", "0", "-i", str(interval_s)],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    first = watch.stdout.readline()
    if "faults" not in first:
        watch.kill()
        sys.exit(f"iotrace attach: {first.strip()}")
    os.set_blocking(watch.stdout.fileno(), False)
    try:
        yield
    finally:
        watch.terminate()
        os.set_blocking(watch.stdout.fileno(), True)
        said, _ = watch.communicate(timeout=LONGEST_S)
        if "switched off" in said:
            raise Failed("attach switched a probe off, so that its cost can't be told")


def lookups_take(command, program=None):
    """Seconds between "go" and "done"."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
        if reader.stdout.readline().strip() != "ready":
            sys.exit(f"{command[0]} does not get ready")
        with watching(program, reader.pid) if program else contextlib.nullcontext():
            start = time.monotonic()
            print("go", file=reader.stdin, flush=True)
            if not reader.stdout.readline().startswith("done"):
                sys.exit(f"{command[0]} does not come to its end")
            return time.monotonic() - start


def ratio(program, command, folder, state, rounds):
    """Throughput while watched over that alone, in pairs whose order changes from one to the next."""
    ratios = []
    for number in range(rounds):
        seconds = {}
        for watched in (number % 2 == 0, number % 2 != 0):
            {COLD: drop, WARM: warm}[state](folder)
            seconds[watched] = lookups_take(command, program if watched else None)
        ratios.append(seconds[False] / seconds[True])
    return interval(ratios)


def lmdb(build, folder):
    reader = os.path.join(build, "lmdb_reader")
    checked([reader, "make", folder, str(LMDB_RECORDS)])
    return lambda state: [reader, "read", folder, {WARM: "2000000", COLD: "10000"}[state], "norahead"]


def lucene(folder):
    jar = next(iter(glob.glob("/usr/share/java/lucene-core-8*.jar")), None)
    if jar is None:
        raise Failed("liblucene8-java is not installed")
    program = ["java", "-cp", jar, os.path.join(SOURCES, "StoredFields.java")]
    checked([*program, "make", folder, str(LUCENE_DOCUMENTS)])
    return lambda state: [*program, "read", folder, {WARM: "100000", COLD: "10000"}[state]]


def calls_ns():
    said = output(["perf", "bench", "syscall", "basic", "--loop", str(CALLS)])
    return float(re.search(r"([\d.]+) usecs/op", said)[1]) * 1000


def cost_on_others(program, rounds):
    """Nanoseconds that watching an idle process adds to each system call of another."""
    added = []
    idle = subprocess.Popen(["sleep", "infinity"])
    try:
        for number in range(rounds):
            ns = {}
            for watched in (number % 2 == 0, number % 2 != 0):
                with watching(program, idle.pid) if watched else contextlib.nullcontext():
                    ns[watched] = calls_ns()
            added.append(ns[True] - ns[False])
    finally:
        idle.kill()
        idle.wait()
    return interval(added)


def first_data_ms(program, rounds):
    """From the start of `attach -i 0.1` to its first line, the tenth of a second that it counts included."""
    took = []
    idle = subprocess.Popen(["sleep", "infinity"])
    try:
        for _ in range(rounds):
            start = time.monotonic()
            with watching(program, idle.pid, 0.1):
                took.append((time.monotonic() - start) * 1000)
    finally:
        idle.kill()
        idle.wait()
    return interval(took)


def watched(program, build, folder, rounds):
    result = {}

    def keep(name, estimate, goal, verdict, digits):
        result[name] = {**estimate, "goal": goal, "verdict": verdict}
        print(line(name, estimate, digits, f"goal {goal}: {verdict}"), flush=True)

    print("attach: throughput of a watched program over that alone, cost on others, first data")
    for name, make in {"LMDB": lambda place: lmdb(build, place), "Lucene": lucene}.items():
        place = os.path.join(folder, name)
        os.mkdir(place)
        try:
            command = make(place)
        except Failed as why:
            print(f"  {name}: n/a: {why}")
            continue
        for state in (WARM, COLD):
            try:
                estimate = ratio(program, command(state), place, state, rounds)
            except Failed as why:
                print(f"  {name}, {state}: n/a: {why}")
                continue
            keep(f"{name}, {state}", estimate, goals.WATCHED_RATIO, goals.at_least(goals.WATCHED_RATIO, estimate), 3)
    estimate = cost_on_others(program, rounds)
    keep("ns on another's system call", estimate, goals.OTHERS_CALL_NS,
         goals.at_most(goals.OTHERS_CALL_NS, estimate), 0)
    estimate = first_data_ms(program, rounds)
    keep("ms to first data", estimate, goals.FIRST_DATA_MS, goals.at_most(goals.FIRST_DATA_MS, estimate), 0)
    return result
