#!/usr/bin/env python3
"""Completion of bash and zsh offers every command, option and name that the program has, and nothing else.

    tests/packaging/completion_test.py IOTRACE BUILD_FOLDER
"""

import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True

import program_help

# Words that an option takes beside the names of a list.
LISTS = {"--strategy": ("run", "strategies", ["all"]), "--case": ("run", "cases", []),
         "--pattern": ("run", "patterns", []), "--preset": ("run", "presets", []),
         "--probes": ("run", "probes", ["on", "off", "paired"]), "--format": ("report", "formats", [])}

# zsh's own functions need a terminal; these print what they are given.
ZSH = """fpath=($1 $fpath); autoload -U _iotrace
_arguments() { print -rl -- "$@" }
_describe() { print -rl -- ${(P)2} }
_values() { shift 3; print -rl -- "$@" }
words=("${@:2}"); CURRENT=$#words; _iotrace "$@"
"""


def bash(documents, *words):
    """What is offered for the last of the words."""
    script = ('. "$1/iotrace.bash"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _iotrace "$1"; '
              "printf '%s\\n' \"${COMPREPLY[@]}\"")
    return program_help.output("bash", "-c", script, "bash", documents, *words).split()


def zsh(documents, *words):
    """What the function hands to zsh for the last of the words."""
    return program_help.output("zsh", "-f", "-c", ZSH, "zsh", documents, *words).splitlines()


def compare(where, offered, wanted):
    return [f"{where}: lacks {name}" for name in wanted if name not in offered] + \
           [f"{where}: offers {name}, which the program doesn't have" for name in offered if name not in wanted]


def check_bash(iotrace, documents):
    commands = program_help.commands(iotrace)
    found = compare("bash", bash(documents, iotrace, ""), commands + ["--help", "--version"])
    for command in commands:
        found += compare(f"bash: {command}", bash(documents, iotrace, command, "-"),
                         program_help.options(iotrace, command))
    for option, (command, what, more) in LISTS.items():
        wanted = program_help.names_of(iotrace, what) + more
        found += compare(f"bash: {option}", bash(documents, iotrace, command, option, ""), wanted)
        found += compare(f"bash: {option}=", bash(documents, iotrace, command, option, "=", ""), wanted)
    found += compare("bash: a list", bash(documents, iotrace, "run", "--case", "cold,wa"), ["cold,warm"])
    for what in bash(documents, iotrace, "list", ""):
        if subprocess.run([iotrace, "list", what], capture_output=True).returncode:
            found.append(f"bash: list {what} fails")
    return found + compare("bash: list", bash(documents, iotrace, "list", ""),
                           ["strategies", "cases", "patterns", "presets", "probes", "findings", "formats"])


def check_zsh(iotrace, documents):
    commands = program_help.commands(iotrace)
    offered = [line.split(":")[0] for line in zsh(documents, iotrace, "")]
    found = compare("zsh", offered, commands + ["--help", "--version"])
    for command in commands:
        specs = zsh(documents, iotrace, command, "")
        named = [match.group(1) for spec in specs if (match := re.match(r"\*?(-[^\[]+)\[", spec))]
        found += compare(f"zsh: {command}", named, program_help.options(iotrace, command))
        for option, (of, what, more) in LISTS.items():
            if of != command:
                continue
            action = next(spec for spec in specs if spec.startswith(f"*{option}[")).rpartition(":")[2]
            if action.startswith("("):  # one of these
                found += compare(f"zsh: {option}", action.strip("()").split(), program_help.names_of(iotrace, what) + more)
                continue
            call = f"fpath=($1 $fpath); . $1/_iotrace >/dev/null; _values() {{ shift 3; print -rl -- $@ }}; {action}"
            stub = "_arguments() {}; _describe() {}; words=(iotrace ''); CURRENT=2; "
            values = program_help.output("zsh", "-f", "-c", stub + call, "zsh", documents).split()
            found += compare(f"zsh: {option}", values, program_help.names_of(iotrace, what) + more)
    return found


def main(iotrace, build):
    documents = os.path.join(build, "documents")
    complaints = check_bash(iotrace, documents)
    if not complaints and not shutil.which("zsh"):
        program_help.skip("zsh is not installed: apt-get install zsh")
    if shutil.which("zsh"):
        complaints += check_zsh(iotrace, documents)
    program_help.fail(complaints)


main(*sys.argv[1:])
