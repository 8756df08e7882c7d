"""The figures as one paragraph, for a README."""

import textwrap

import peers
from observe import ALL


def span(estimates, digits=2):
    """Of medians: "0.97" or "0.95 to 0.99"."""
    medians = [f"{e['median']:.{digits}f}" for e in estimates]
    low, high = min(medians, key=float), max(medians, key=float)
    return low if low == high else f"{low} to {high}"


def observed_by(rows, observer, belongs=lambda row: True):
    return [row["observers"][observer] for name, row in rows.items()
            if belongs(name) and "median" in row["observers"].get(observer, {})]


def worst(rows, observer):
    median, row = min((row["observers"][observer]["median"], name) for name, row in rows.items()
                      if "median" in row["observers"].get(observer, {}))
    return f"{median:.2f} ({row})"


def cost_sentences(rows):
    kinds = [("cold rows", lambda row: row.startswith("cold")), ("warm mapped reads", lambda row: row.startswith("warm mmap")),
             ("warm pread", lambda row: row.startswith("warm pread")), ("faults on cached pages", lambda row: row.startswith("resident")),
             ("reads under memory pressure", lambda row: row.startswith("pressure")),
             ("a storm of faults", lambda row: "storm" in row)]
    parts = [f"{kind} {span(found)}" for kind, belongs in kinds if (found := observed_by(rows, ALL, belongs))]
    if parts:
        yield f"Throughput with all probes on, as a part of that without: {', '.join(parts)}."
    lost = sum(found["lost"] for found in observed_by(rows, ALL))
    if parts:
        yield f"{lost or 'No'} event{'s were' if lost > 1 else ' was'} lost."
    others = [f"{peer.name} {worst(rows, peer.name)}" for peer in peers.PEERS if observed_by(rows, peer.name)]
    if others:
        yield f"Others cost most in these rows: {', '.join(others)}."


def event_sentences(events):
    parts = [f"{name} {result['net_ns']['median']:.0f} ({result['raw_ns']['median']:.0f})"
             for name, result in events.items() if "net_ns" in result]
    if parts:
        yield (f"Nanoseconds of BPF per event, net of programs that do nothing on the same hooks (raw): "
               f"{', '.join(parts)}.")


def attach_sentences(under_attach):
    parts = [f"{name} {result['median']:.{2 if result['median'] < 10 else 0}f}" for name, result in under_attach.items()]
    if parts:
        yield f"Under `attach`, throughput as a part of that alone, and times: {', '.join(parts)}."


def paragraph(results):
    sentences = [f"Measured on Linux {results['kernel']}, {results['machine']}, by `make overhead`."]
    sentences += cost_sentences(results.get("throughput_observed_over_none", {}))
    sentences += event_sentences(results.get("nanoseconds_of_bpf", {}))
    sentences += attach_sentences(results.get("under_attach", {}))
    return textwrap.fill(" ".join(sentences), 118, break_on_hyphens=False)
