"""What observing may cost, and whether that is proven: reached, missed or cannot tell.

A goal is reached when the whole 95 % interval lies on its good side, and missed when the whole of it lies on the
other; fewer than six values have no interval and prove nothing.
"""

REACHED, MISSED, CANNOT_TELL = "reached", "missed", "cannot tell"

# Throughput with all probes on, as a part of that without.
COLD_RATIO = 0.98
WARM_MAPPED_RATIO = 0.98
WARM_PREAD_RATIO = 0.95
FAULTS_RATIO = 0.95

# BPF time, net of programs that do nothing on the same hooks.
FAULT_NS = 240
PAGE_ADDED_NS = 40

# Under attach: the target's throughput as a part of that alone, a system call of somebody else, the wait.
WATCHED_RATIO = 0.97
OTHERS_CALL_NS = 60
FIRST_DATA_MS = 500


def at_least(goal, estimate):
    if estimate["low"] is None:
        return CANNOT_TELL
    if estimate["low"] >= goal:
        return REACHED
    return MISSED if estimate["high"] < goal else CANNOT_TELL


def at_most(limit, estimate):
    if estimate["low"] is None:
        return CANNOT_TELL
    if estimate["high"] <= limit:
        return REACHED
    return MISSED if estimate["low"] > limit else CANNOT_TELL


def none_lost(lost):
    return REACHED if lost == 0 else MISSED


def not_dearer(ours, peer):
    """Both are ratios of throughput: the larger one belongs to the cheaper observer."""
    if ours["low"] is None or peer["low"] is None:
        return CANNOT_TELL
    if ours["low"] >= peer["high"]:
        return REACHED
    return MISSED if ours["high"] < peer["low"] else CANNOT_TELL
