"""The median of a few values, and the interval that holds the true one."""

import math


def interval(values):
    """Median and the order-statistic interval that holds the true one with >= 95 %; None below 6 values."""
    ordered = sorted(values)
    n = len(ordered)
    middle = (ordered[(n - 1) // 2] + ordered[n // 2]) / 2
    rank, tail = 0, 0.0
    while rank < n // 2 and tail + math.comb(n, rank) / 2 ** n <= 0.025:
        tail += math.comb(n, rank) / 2 ** n
        rank += 1
    if rank == 0:
        return {"median": middle, "low": None, "high": None, "n": n}
    return {"median": middle, "low": ordered[rank - 1], "high": ordered[n - rank], "n": n}
