"""Figures of one kernel and machine, kept as JSON beside the programs that made them."""

import json
import os
import platform

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results")


def machine():
    with open("/proc/cpuinfo") as info:
        cpu = next((line.split(":", 1)[1].strip() for line in info if line.startswith("model name")), "?")
    return {"kernel": platform.release(), "machine": f"{cpu}, {os.cpu_count()} CPUs"}


def path_of(results):
    return os.path.join(FOLDER, results["kernel"] + ".json")


def earlier(here, parts):
    """What stands there of the parts named, from the same machine; a part that is measured anew replaces its own."""
    try:
        with open(path_of(here)) as kept:
            found = json.load(kept)
    except (OSError, ValueError):
        return {}
    if any(found.get(key) != value for key, value in here.items()):
        return {}
    return {key: value for key, value in found.items() if key in parts}


def keep(results):
    os.makedirs(FOLDER, exist_ok=True)
    path = path_of(results)
    with open(path + ".tmp", "w") as out:
        json.dump(results, out, indent=2)
        out.write("\n")
    os.replace(path + ".tmp", path)
    return os.path.relpath(path)
