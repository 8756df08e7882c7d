"""Throughput under each observer against none, in turn within every round.

Ours is compared within one command, where a repetition with the probes lies next to one without. A peer is there for
the whole of a command; it is compared with the median of its round's repetitions without any observer, which lie
before and after it.
"""

import os
import random
import statistics
from collections import defaultdict

import commands
import goals
import peers
from interval import interval

NONE, ALL = "no observer", "all probes"

# A goal of 2 % needs more pairs than the comparison of observers with each other does.
PAIRS_OF_ALL = 3


def probe_summaries(program):
    """What each probe gives, by name."""
    listed = commands.checked([program, "list", "probes"])
    return dict(line.split(None, 1) for line in listed.splitlines() if line.strip())


class Row:
    """What was measured of one row, until it becomes ratios."""

    def __init__(self):
        self.ratios = defaultdict(list)  # by observer
        self.lost = defaultdict(int)
        self.reasons = defaultdict(list)  # why it has none of some round
        self.without = {}                # probes that "all" was not, and why
        self.plain = []

    def result(self, goal, answers):
        """Observers in the order of `answers`, which says what each tells."""
        observers = {}
        for name in (known for known in answers if self.ratios[known] or self.reasons[known]):
            found = observers[name] = {"answers": answers[name], "left_out": self.reasons[name]}
            if self.ratios[name]:
                found |= {**interval(self.ratios[name]), "lost": self.lost[name]}
            else:
                found["unavailable"] = self.reasons[name][0]
        if "median" in observers.get(ALL, {}):
            observers[ALL]["without"] = self.without
            if goal is not None:
                observers[ALL] |= {"goal": goal, "verdict": goals.at_least(goal, observers[ALL])}
        for peer in peers.PEERS:
            ours, theirs = observers.get(peer.probe, {}), observers.get(peer.name, {})
            if "median" in ours and "median" in theirs:
                theirs |= {"same_question_as": peer.probe, "ours_not_dearer": goals.not_dearer(ours, theirs)}
        return {"unobserved": interval(self.plain) if self.plain else None, "observers": observers}


def measured_alone(group, probes, pairs):
    output = commands.output(group.command(probes, pairs))
    return group.readings(output, probes != group.no_probes)


def take_ours(rows, name, readings):
    for reading in readings:
        if reading.error or name in reading.not_attached:
            rows[reading.row].reasons[name].append(reading.error or reading.not_attached[name])
            continue
        if reading.not_attached:
            rows[reading.row].without |= reading.not_attached
        rows[reading.row].ratios[name] += [observed / plain for observed, plain in reading.pairs]
        rows[reading.row].lost[name] += reading.lost


def watched(group, peer, folder):
    """Readings of the rows in which the peer had something to see. Fails where it saw too little."""
    output, printed = peers.run_under(peer, folder, group.command(group.no_probes))
    readings = group.readings(output, False)
    for reading in readings:
        if reading.error:
            raise commands.Failed(f"{reading.row}: {reading.error}")
    due = defaultdict(int)
    for reading in readings:
        for event, count in reading.events.items():
            due[event] += count
    if reason := peers.unobserved(peer, peer.counts(printed), due):
        raise commands.Failed(reason)
    return readings, peers.lost_events(printed + output)


def has_a_question(peer, events):
    return any(event in peer.sees for event in events)


class Round:
    """Every observer once. What it comes to is known at the end: how fast each row is unobserved, what it asks."""

    def __init__(self, group, folder, rows):
        self.group, self.folder, self.rows = group, folder, rows
        self.plain = defaultdict(list)                          # rates by row
        self.watched = defaultdict(lambda: defaultdict(list))   # rates by peer and row
        self.events = defaultdict(set)                          # by row

    def ours(self, name, pairs):
        probes = self.group.no_probes if name is None else self.group.probes(None if name == ALL else name)
        readings = measured_alone(self.group, probes, pairs)
        if name is not None:
            take_ours(self.rows, name, readings)
        for reading in readings:
            self.plain[reading.row] += reading.plain
            self.events[reading.row].update(reading.events)

    def theirs(self, peer):
        readings, lost = watched(self.group, peer, self.folder)
        for reading in readings:
            self.watched[peer][reading.row] += reading.plain
            self.rows[reading.row].lost[peer.name] += lost

    def run(self, observers):
        failed = []
        for observer in observers:
            try:
                self.theirs(observer) if isinstance(observer, peers.Peer) else self.ours(*observer)
            except commands.Failed as failure:
                failed.append((observer, str(failure)))
        for row, rates in self.plain.items():
            self.rows[row].plain += rates
            for peer, by_row in self.watched.items():
                if rates and by_row[row] and has_a_question(peer, self.events[row]):
                    ratio = statistics.median(by_row[row]) / statistics.median(rates)
                    self.rows[row].ratios[peer.name].append(ratio)
            for observer, reason in failed:
                if not isinstance(observer, peers.Peer):
                    self.rows[row].reasons[observer[0] or NONE].append(reason)
                elif has_a_question(observer, self.events[row]):
                    self.rows[row].reasons[observer.name].append(reason)


def observers_of(names, with_peers, sees):
    """No observer, all probes; with peers each probe alone and every peer that sees something in the group."""
    ours = [(None, 1), (ALL, PAIRS_OF_ALL)]
    if not with_peers:
        return ours
    return ours + [(name, 1) for name in names] + [p for p in peers.PEERS if has_a_question(p, sees)]


def observe(group, probes, with_peers, folder, rounds, shuffler):
    """Results by row."""
    if group.path:
        commands.make_file(group.path, group.size_bytes)
    # Once outside of the count: what the group has to show, and everything is in memory that will be.
    first = measured_alone(group, group.no_probes, 1)
    sees = {event for reading in first for event in reading.events}
    observers = observers_of(probes, with_peers, sees)
    rows = defaultdict(Row)
    for _ in range(rounds):
        order = observers[:]
        shuffler.shuffle(order)
        Round(group, folder, rows).run(order)
    if group.path:
        os.unlink(group.path)
    answers = {NONE: "nothing", ALL: "what each probe tells, tied together", **probes,
               **{peer.name: peer.answers for peer in peers.PEERS}}
    return {name: row.result(group.goal(name), answers) for name, row in rows.items()}


def observe_all(all_groups, program, with_peers, folder, rounds, show):
    seed = 42
    probes = probe_summaries(program)
    shuffler = random.Random(seed)
    results = {}
    for group in all_groups:
        found = observe(group, probes, with_peers, folder, rounds, shuffler)
        for name, row in found.items():
            show(name, row)
        results |= found
    return results
