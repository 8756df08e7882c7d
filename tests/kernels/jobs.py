"""What a guest does, as the shell script that its init reads: jobs of a group, on ext4 and on xfs."""

import itertools
import re
import subprocess

# Cases that run on xfs as well: its folios are large on every kernel of the matrix, those of ext4 on none.
ON_XFS = ["a hint on 8 pages of which 3 are touched brings 5 for nothing",
          "pages of large folios are used and wasted one by one",
          "a file cached in large folios is added, used and wasted to the page",
          "of a hint on 31 pages of which 13 are cached, 13 are needless, by each way of hinting",
          "one hint on 64 MiB is truncated to what the kernel reads for one call, to the page",
          "pages that are touched while their hint is in flight are late",
          "17 pages kept for 50 ms leave at that age or later, to a tick",
          "pages added are the pages that then are in the cache",
          "DONTNEED evicts exactly what was there",
          "pages are counted, not folios, on their way in and out",
          "the census counts each folio that enters the cache, whatever its size"]

SECONDS = {"test": 90, "run": 120, "doctor": 30}

READS = ("iotrace run --case cold,warm --strategy mmap,mmap-random,mmap-random-willneed,pread --size 64M --ops 20"
         " --reps 2 --threads 1 --ceiling off --seed 7")
CHURN = ("iotrace run --case resident --strategy mmap-random --mmap-churn 500 --size 64M --ops 40 --reps 1"
         " --threads 2 --ceiling off --seed 7")
LIMITED = ("iotrace run --case half-cold,pressure --strategy mmap-random,pread --size 128M --ops 20 --reps 1"
           " --threads 1 --ceiling off --seed 7")


def test_cases(tests):
    """Names of the cases of a Catch2 program."""
    listed = subprocess.run([tests, "--list-test-names-only"], capture_output=True, text=True).stdout
    return [line.strip() for line in listed.splitlines() if line.strip()]


def quoted(word):
    return "'" + word.replace("'", "'\\''") + "'"


def test_job(group, name):
    pattern = re.sub(r"([\\,\[])", r"\\\1", name)  # a test's name as Catch2 wants it
    return f"job {group} {SECONDS['test']} {quoted(name)} in_place_tests -r compact {quoted(pattern)}"


def run_job(filesystem, name, command):
    return f"job run {SECONDS['run']} {filesystem}-{name} {command} -o /results/{filesystem}-{name}.json"


def all_jobs(tests, left_out):
    """[(file system, the script's line)], the long ones first."""
    cases = [name for name in test_cases(tests) if name not in left_out]
    listed = []
    for filesystem in ("ext4", "xfs"):
        listed += [(filesystem, f"job doctor {SECONDS['doctor']} {filesystem} iotrace doctor"),
                   (filesystem, run_job(filesystem, "reads", READS))]
    listed += [("ext4", run_job("ext4", "churn", CHURN)), ("ext4", run_job("ext4", "limited", LIMITED))]
    listed += [("xfs", test_job("xfs", name)) for name in cases if name in ON_XFS]
    listed += [("ext4", test_job("ext4", name)) for name in cases]
    return listed


def scripts(listed, guests):
    """The jobs dealt to so many guests: a script for each."""
    dealt = []
    for number in range(guests):
        lines = []
        for filesystem, jobs in itertools.groupby(listed[number::guests], key=lambda job: job[0]):
            lines += [f"cd /{filesystem}", f"export TMPDIR=/{filesystem}", *(line for _, line in jobs), "hand_back"]
        dealt.append("\n".join(lines) + "\n")
    return dealt


def measuring_script(arguments):
    """One run of iotrace on ext4, whose record and report are handed back. It may take long without a word, so
    that something is said on the console meanwhile."""
    return ("cd /ext4\nexport TMPDIR=/ext4\n(while sleep 20; do echo measuring; done) &\n"
            f"iotrace {arguments} -o /results/record.json >/results/command.txt 2>&1\necho $? >/results/code\n")


def command_script(command):
    """One command of the user's, on ext4, whose output is handed back as command.txt.

    It may say nothing for as long as it likes: the console, which is watched, is kept busy.
    """
    return ("cd /ext4\nexport TMPDIR=/ext4\n(while sleep 60; do echo; done) &\n"
            f"({command}) >/results/command.txt 2>&1\nkill $!\n")
