"""What came back from a guest, as counts and as the text that a golden holds."""

import json
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77


def listed(folder, series):
    """{name: reason} from a file with lines "name: reason"; the reason starts at the last ": "."""
    path = os.path.join(HERE, folder, series + ".txt")
    entries = {}
    if os.path.exists(path):
        with open(path) as lines:
            for line in lines:
                if line.strip() and not line.startswith("#"):
                    name, _, reason = line.strip().rpartition(": ")
                    entries[name] = reason
    return entries


class Job:
    """One line of /results/jobs: CODE STARTED ENDED NUMBER GROUP NAME."""

    def __init__(self, line, files):
        code, started, ended, number, self.group, self.name = line.split(" ", 5)
        self.code = int(code)
        self.seconds = float(ended) - float(started)
        self.output = files.get(number + ".txt", "")

    def reason(self):
        """Of a skip."""
        found = re.search(r"^SKIP: (.*)$", self.output, re.M)
        return found.group(1) if found else "no reason given"


def attempts(files):
    return [Job(line, files) for line in files.get("jobs", "").splitlines()]


def jobs(files):
    """The last attempt of each job; `again` says that it was not the first."""
    last = {}
    for job in attempts(files):
        job.again = (job.group, job.name) in last
        last[job.group, job.name] = job
    return list(last.values())


def records(files):
    """{job name: record} of the runs."""
    return {name.removesuffix(".json"): json.loads(text) for name, text in files.items() if name.endswith(".json")}


def complaints(record):
    """What is wrong with a run that must have measured every row and lost nothing."""
    found = []
    for row in record["rows"]:
        name = f"{row['strategy']} {row['case']}"
        if row.get("error"):
            found.append(f"{name}: {row['error']}")
        for probe in row["probes"] or []:
            if probe["variant"] is None:
                found.append(f"{name}: probe {probe['name']}: {probe['reason']}")
            if probe["lost"]:
                found.append(f"{name}: probe {probe['name']} lost {probe['lost']}")
    return found


def variants(record):
    """{probe: variant}"""
    return {probe["name"]: probe["variant"] for row in record["rows"] for probe in row["probes"] or []}


def yes_or_no(value):
    return "unknown" if value is None else "yes" if value else "no"


def table(found):
    """[(line, value)] of what this kernel is to iotrace.

    found  {job name: record} by file system and run
    """
    lines = []
    for filesystem in ("ext4", "xfs"):
        record = found.get(filesystem + "-reads")
        if not record:
            continue
        for probe, variant in sorted(variants(record).items()):
            lines.append((f"probe {probe}, {filesystem}", variant or "none"))
        orders = record["file"].get("folio_orders")
        large = None if orders is None else any(int(order) > 0 for order in orders)
        lines.append((f"large folios, {filesystem}", yes_or_no(large)))
    if "ext4-churn" in found:
        churn = found["ext4-churn"]
        lines.append(("most faults on resident pages, beside churn, under", usual_lock(churn)))
    if "ext4-limited" in found:
        for case in ("half-cold", "pressure"):
            limited = any(row["case"] == case and not row.get("error") for row in found["ext4-limited"]["rows"])
            lines.append((f"case {case} under cgroup v2", "measured" if limited else "failed"))
    return lines


def usual_lock(record):
    """The one that more than half of all faults ended under; their number differs from boot to boot."""
    faults = [row["faults"] for row in record["rows"] if row["faults"]]
    under = {lock: sum(each[f"under_{lock}"] or 0 for each in faults) for lock in ("vma_lock", "mmap_lock")}
    return max(under, key=under.get) if any(under.values()) else "not counted"


def text(lines):
    width = max((len(name) for name, _ in lines), default=0)
    return "".join(f"{name:{width}}  {value}\n" for name, value in lines)
