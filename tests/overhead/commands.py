"""Commands that are run to their end, and files to read from."""

import os
import subprocess
import sys

# Ten times what any of them takes, even under strace.
LONGEST_S = 180


class Failed(Exception):
    """Its words are the reason that is shown."""


def output(command, **how):
    """Standard output. Fails with the first line of what was said to standard error."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_S, **how)
    except subprocess.TimeoutExpired:
        raise Failed(f"no end after {LONGEST_S} s") from None
    except OSError as error:
        raise Failed(f"{command[0]}: {error.strerror}") from None
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise Failed(said[0] if said else f"exit code {done.returncode}")
    return done.stdout


def checked(command, **how):
    try:
        return output(command, **how)
    except Failed as failure:
        sys.exit(f"{' '.join(command)}\n{failure}")


def make_file(path, size):
    with open(path, "wb") as out:
        for _ in range(size >> 20):
            out.write(os.urandom(1 << 20))
        out.flush()
        os.fsync(out.fileno())
