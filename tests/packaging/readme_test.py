#!/usr/bin/env python3
"""The README names every command, strategy, case, finding and report format of the program, and each finding with a
remedy.

    tests/packaging/readme_test.py IOTRACE BUILD_FOLDER
"""

import os
import re
import sys

sys.dont_write_bytecode = True

import program_help

README = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../README.md")


def main(iotrace, _):
    with open(README) as file:
        text = file.read()
    complaints = []
    for what in ("strategies", "cases", "findings", "formats"):
        complaints += [f"README.md names no `{name}`, which iotrace list {what} has"
                       for name in program_help.names_of(iotrace, what) if f"`{name}`" not in text]
    complaints += [f"README.md names no iotrace {command}" for command in program_help.commands(iotrace)
                   if not re.search(rf"iotrace {command}\b", text)]
    table = re.search(r"^### Findings and remedies\n\n(.*?)\n\n", text, re.M | re.S).group(1)
    remedies = dict(re.findall(r"^\| `([a-z-]+)` \| .+ \| (.+) \|$", table, re.M))
    findings = program_help.names_of(iotrace, "findings")
    complaints += [f"the table of findings lacks {name}" for name in findings if name not in remedies]
    complaints += [f"the table of findings has {name}, the program doesn't" for name in remedies if name not in findings]
    program_help.fail(complaints)


main(*sys.argv[1:])
