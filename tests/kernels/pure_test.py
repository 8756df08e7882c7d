#!/usr/bin/env python3
"""Without a guest: kernels in turns, records kept, and how they are compared; how jobs are dealt to
guests, what a job's attempts come to."""

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import stat
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import jobs
import verdict


def loaded():
    loader = importlib.machinery.SourceFileLoader("side_by_side", os.path.join(HERE, "side_by_side"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("side_by_side", loader))
    loader.exec_module(module)
    return module


# An iotrace whose compare and report print what they are given.
IOTRACE = """#!/bin/sh
case "$*" in
  --help) printf 'Subcommands:\\n  run         Measure\\n%s' "$OFFERED" ;;
  "compare --help") echo "$COMPARE_OPTIONS" ;;
  *) echo "CALLED $*" ;;
esac
"""


class SideBySide(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.iotrace = os.path.join(self.folder.name, "iotrace")
        with open(self.iotrace, "w") as program:
            program.write(IOTRACE)
        os.chmod(self.iotrace, stat.S_IRWXU)
        self.records = os.path.join(self.folder.name, "records")
        self.booted, self.failing = [], []

    def measure(self, *words, offered="", compare_options=""):
        """Exit code of side_by_side, and what it and its children print."""
        os.environ.update(OFFERED=offered, COMPARE_OPTIONS=compare_options)
        module, test = loaded(), self

        class Machine:
            def __init__(self, series, _programs, script, folder, _kvm, size):
                os.makedirs(folder)
                test.booted.append(series)
                test.script, test.size = script, size
                self.release, self.seconds, self.given_up = series + ".23", 1, None
                self.files = {"command.txt": "a table", "code": "0", "record.json": f'"{series}"'}
                if series in test.failing:
                    self.files = {"command.txt": "iotrace: no", "code": "3"}

        module.Machine, module.run_all, module.guest.kvm_works = Machine, lambda *_, **__: None, lambda: False
        sys.argv = ["side_by_side", self.iotrace, "--records", self.records, *words]
        with tempfile.TemporaryFile("w+") as out:
            kept = os.dup(1)
            os.dup2(out.fileno(), 1)
            try:
                with open(os.dup(1), "w", buffering=1) as text, contextlib.redirect_stdout(text):
                    code = module.main()
            finally:
                os.dup2(kept, 1)
                os.close(kept)
            out.seek(0)
            return code, out.read()

    def path(self, name):
        return os.path.join(self.records, name)

    def test_kernels_take_turns_and_their_records_are_kept(self):
        code, said = self.measure("--kernels", "6.1 6.12", "--sessions", "3", "--", "run", "--case", "cold,warm")
        self.assertEqual((code, self.booted), (0, ["6.1", "6.12"] * 3))
        self.assertEqual(len([name for name in os.listdir(self.records) if name.endswith(".json")]), 6)
        with open(self.path("6.12-3.json")) as record:
            self.assertEqual(record.read(), '"6.12"')
        self.assertIn("iotrace run --case cold,warm -o /results/record.json", self.script)
        self.assertIn("counts hold, timings don't", said)

    def test_sizes_are_those_asked_for(self):
        self.measure("--cpus", "5", "--memory", "3G", "--disk", "7G", "--minutes", "2", "--", "run")
        self.assertEqual((self.size.cpus, self.size.memory, self.size.disk_bytes, self.size.seconds),
                         (5, "3G", 7 << 30, 120))

    def test_without_compare_each_record_is_reported(self):
        _, said = self.measure("--sessions", "1", "--", "run")
        self.assertIn("CALLED report " + self.path("6.1-1.json"), said)
        self.assertNotIn("CALLED compare", said)

    def test_sessions_of_a_kernel_are_compared_as_one_where_compare_can(self):
        _, said = self.measure("--", "run", offered="  compare     Compare\n", compare_options="  --group TEXT")
        groups = [",".join(self.path(f"{series}-{session}.json") for session in (1, 2)) for series in ("6.1", "6.12")]
        self.assertIn(f"CALLED compare --group {groups[0]} --group {groups[1]}\n", said)

    def test_a_kernel_that_failed_is_named_and_makes_it_red(self):
        self.failing = ["6.12"]
        code, said = self.measure("--sessions", "1", "--", "run")
        self.assertEqual(code, 1)
        self.assertIn("iotrace ended with 3:\niotrace: no", said)
        self.assertNotIn("6.12-1.json", said)

    def test_what_cannot_be_run_is_refused(self):
        for words in (["run"], ["--", "attach"], ["--", "run", "-o", "x"], ["--memory", "3", "--", "run"],
                      ["--sessions", "0", "--", "run"]):
            with self.subTest(words), self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
                self.measure(*words)
        self.assertEqual(self.booted, [])


class Deal(unittest.TestCase):
    def test_each_job_is_done_once_in_its_file_system(self):
        listed = [("ext4", "job a"), ("xfs", "job b"), ("ext4", "job c"), ("ext4", "job d"), ("ext4", "job e")]
        first, second = jobs.scripts(listed, 2)
        ext4, xfs = ("cd /ext4", "export TMPDIR=/ext4"), ("cd /xfs", "export TMPDIR=/xfs")
        self.assertEqual(first.splitlines(), [*ext4, "job a", "job c", "job e", "hand_back"])
        self.assertEqual(second.splitlines(), [*xfs, "job b", "hand_back", *ext4, "job d", "hand_back"])


class Attempts(unittest.TestCase):
    def test_a_job_counts_as_its_last_attempt(self):
        lines = ["1 0.0 1.5 1 ext4 flaky: one", "0 1.5 2.0 2 ext4 flaky: one", "0 2.0 3.0 3 xfs flaky: one",
                 "1 3.0 4.0 4 ext4 broken", "137 4.0 6.0 5 ext4 broken"]
        found = verdict.jobs({"jobs": "\n".join(lines), "2.txt": "fine"})
        self.assertEqual([(job.group, job.name, job.code, job.again) for job in found],
                         [("ext4", "flaky: one", 0, True), ("xfs", "flaky: one", 0, False),
                          ("ext4", "broken", 137, True)])
        self.assertEqual((found[0].output, found[0].seconds), ("fine", 0.5))


unittest.main()
