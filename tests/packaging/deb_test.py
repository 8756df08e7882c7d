#!/usr/bin/env python3
"""`make deb` makes a package that holds what it should, depends on nothing, and whose program runs.

    tests/packaging/deb_test.py IOTRACE BUILD_FOLDER
"""

import glob
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True

import program_help

WANTED = ["usr/bin/iotrace", "usr/lib/systemd/system/iotrace-attach@.service", "usr/share/man/man1/iotrace.1.gz",
          "usr/share/bash-completion/completions/iotrace", "usr/share/zsh/vendor-completions/_iotrace",
          "usr/share/doc/iotrace/copyright", "usr/share/doc/iotrace/changelog.gz",
          "usr/share/iotrace/fleet/grafana-dashboard.json", "usr/share/iotrace/record.schema.json"]


def main(iotrace, build):
    if not shutil.which("dpkg-deb"):
        program_help.skip("dpkg-deb is not installed")
    complaints = []
    with tempfile.TemporaryDirectory() as folder:
        program_help.output("cpack", "-G", "DEB", "-B", folder, cwd=build)
        package = glob.glob(os.path.join(folder, "iotrace_*.deb"))[0]
        contents = [line.split(None, 5) for line in program_help.output("dpkg-deb", "--contents", package).splitlines()]
        modes = {line[5].removeprefix("./"): line[0] for line in contents}
        complaints += [f"not in the package: {path}" for path in WANTED if path not in modes]
        complaints += [f"may be written by others: {path}" for path, mode in modes.items() if mode[8] == "w"]
        complaints += [f"not owned by root: {line[5]}" for line in contents if line[1] != "root/root"]
        if needs := program_help.output("dpkg-deb", "--field", package, "Depends").strip():
            complaints.append(f"depends on {needs}, though the binary is static")
        root = os.path.join(folder, "root")
        program_help.output("dpkg-deb", "--extract", package, root)
        program = os.path.join(root, "usr/bin/iotrace")
        if program_help.output(program, "--version") != program_help.output(iotrace, "--version"):
            complaints.append("the package holds another program")
        if program_help.commands(program) != program_help.commands(iotrace):
            complaints.append("the package's program has other commands")
        with open(os.path.join(root, "usr/lib/systemd/system/iotrace-attach@.service")) as unit:
            if "exec /usr/bin/iotrace attach" not in unit.read():
                complaints.append("the unit starts another program than the package's")
    program_help.fail(complaints)


main(*sys.argv[1:])
