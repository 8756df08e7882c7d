#!/usr/bin/env python3
"""The man page has every command and option of the program, and man and mandoc have nothing against it.

    tests/packaging/man_page_test.py IOTRACE BUILD_FOLDER
"""

import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True

import program_help


def parts(page):
    """{command: its part of COMMANDS} of the page as roff."""
    found = re.split(r'^\.SS "iotrace (.*)"$', page, flags=re.M)
    return dict(zip(found[1::2], [part.split("\n.SH ")[0] for part in found[2::2]]))


def main(iotrace, build):
    path = os.path.join(build, "documents/iotrace.1")
    with open(path) as file:
        page = file.read()
    complaints = [f"a placeholder was not filled in: {left}" for left in re.findall(r"@[A-Z]+@", page)]
    described = parts(page)
    synopsis = page.split(".SH DESCRIPTION")[0]
    for command in program_help.commands(iotrace):
        if f".B iotrace {command}\n" not in synopsis:
            complaints.append(f"SYNOPSIS lacks iotrace {command}")
        if command not in described:
            complaints.append(f"COMMANDS lacks iotrace {command}")
            continue
        heads = re.findall(r"^\.TP\n(.*)$", described[command], re.M)
        named = {name.replace("\\-", "-") for head in heads for name in re.findall(r"\\fB(.*?)\\fR", head)}
        for option in program_help.options(iotrace, command):
            if option not in ("-h", "--help") and option not in named:
                complaints.append(f"iotrace {command}: the page lacks {option}")
        for option in named:
            if option.startswith("-") and option not in program_help.options(iotrace, command):
                complaints.append(f"iotrace {command}: the page has {option}, the program doesn't")
    if not shutil.which("mandoc"):
        program_help.skip("mandoc is not installed: apt-get install mandoc")
    lint = subprocess.run(["mandoc", "-Tlint", "-Wwarning", path], capture_output=True, text=True)
    complaints += lint.stdout.splitlines()
    if shutil.which("man"):
        man = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", path], capture_output=True,
                             text=True, env={**os.environ, "LC_ALL": "C.UTF-8", "MANROFFSEQ": "", "MANWIDTH": "100"})
        complaints += man.stderr.splitlines()
    program_help.fail(complaints)


main(*sys.argv[1:])
