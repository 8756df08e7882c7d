"""Figures as lines of text."""

def estimate_text(estimate, digits=3):
    text = f"{estimate['median']:.{digits}f}"
    if estimate["low"] is not None:
        text += f" [{estimate['low']:.{digits}f}-{estimate['high']:.{digits}f}]"
    return text


def line(name, estimate, digits=3, verdict=""):
    return f"  {name:44} {estimate_text(estimate, digits)}  n={estimate['n']}  {verdict}".rstrip()


def verdict(result):
    if "goal" in result:
        return f">= {result['goal']}: {result['verdict']}"
    if "same_question_as" in result:
        return f"{result['same_question_as']} no dearer: {result['ours_not_dearer']}"
    return "-"


def row_lines(name, row):
    """A block per row: a line for each observer, ours first, and what each answers."""
    without = row["unobserved"]["n"] if row["unobserved"] else 0
    heading = f"{name}: throughput against no observer ({without} repetitions without)"
    cells = [("observer", "ratio [95 %]", "n", "lost", "goal", "answers")]
    for observer, result in row["observers"].items():
        if "unavailable" in result:
            cells.append((observer, "n/a", "", "", result["unavailable"], result["answers"]))
        else:
            cells.append((observer, estimate_text(result), str(result["n"]), str(result["lost"]), verdict(result),
                          result["answers"]))
    widths = [max(len(cell[column]) for cell in cells) for column in range(len(cells[0]))]
    return [heading] + ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row_cells, widths)).rstrip()
                        for row_cells in cells]
