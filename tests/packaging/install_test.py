#!/usr/bin/env python3
"""`make install` puts each file where it belongs, below DESTDIR alone, and the installed program runs.

    tests/packaging/install_test.py IOTRACE BUILD_FOLDER
"""

import os
import sys
import tempfile

sys.dont_write_bytecode = True

import program_help

WANTED = ["bin/iotrace", "lib/systemd/system/iotrace-attach@.service", "share/man/man1/iotrace.1.gz",
          "share/bash-completion/completions/iotrace", "share/zsh/site-functions/_iotrace",
          "share/doc/iotrace/copyright", "share/iotrace/fleet/grafana-dashboard.json",
          "share/iotrace/record.schema.json"]


def files_below(folder):
    return {os.path.relpath(os.path.join(where, name), folder) for where, _, names in os.walk(folder) for name in names}


def main(iotrace, build):
    complaints = []
    with tempfile.TemporaryDirectory() as root:
        program_help.output("cmake", "--install", build, "--prefix", "/opt/tools", env={**os.environ, "DESTDIR": root})
        found = files_below(root)
        complaints += [f"not installed: {path}" for path in WANTED if "opt/tools/" + path not in found]
        complaints += [f"not below the prefix: {path}" for path in found if not path.startswith("opt/tools/")]
        installed = os.path.join(root, "opt/tools/bin/iotrace")
        if program_help.output(installed, "--help").split("Options:")[1] != \
           program_help.output(iotrace, "--help").split("Options:")[1]:
            complaints.append("the installed program is another one")
        with open(os.path.join(root, "opt/tools/lib/systemd/system/iotrace-attach@.service")) as unit:
            if "exec /opt/tools/bin/iotrace attach" not in unit.read():
                complaints.append("the unit starts another program than the installed one")
    program_help.fail(complaints)


main(*sys.argv[1:])
