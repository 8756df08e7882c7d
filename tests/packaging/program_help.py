"""What the program says of its commands and options, read independently of userspace/documents/*.awk."""

import re
import subprocess
import sys


def output(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


def section(text, title):
    """Lines below "TITLE:" up to the next blank line."""
    found = re.search(rf"^{title}:\n(.*?)(?:\n\n|\Z)", text, re.M | re.S)
    return found.group(1).splitlines() if found else []


def commands(iotrace):
    return [line.split()[0] for line in section(output(iotrace, "--help"), "Subcommands")]


def options(iotrace, command):
    """[name], each of "-o,--output" by itself."""
    names = [line.split()[0] for line in section(output(iotrace, command, "--help"), "Options")]
    return [name.split("{")[0] for both in names for name in both.split(",")]


def names_of(iotrace, what):
    """What `iotrace list WHAT` names."""
    return [line.split()[0] for line in output(iotrace, "list", what).splitlines()]


def fail(complaints):
    """Ends the test: red if there are complaints."""
    print("\n".join(complaints) or "ok")
    sys.exit(1 if complaints else 0)


def skip(reason):
    print("SKIP: " + reason)
    sys.exit(77)
