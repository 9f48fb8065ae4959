"""Makes of a replay what is printed: data with every denominator beside its share, and a page for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from orbit_registry.analytics.past import Past
from orbit_registry.analytics.replay_count import NEVER, Citations, Tally, percentile
from orbit_registry.push.context import DROPS
from orbit_registry.records.record import Record
from orbit_registry.text.secrets import without_secrets

LISTED, LONGEST_TITLE = 10, 70
"""So many records are named in the text; the data name all."""


@dataclass(frozen=True, slots=True)
class Report:
    """A replay: what was walked, what it came to, which lines of a file were no commits (line, why), and seconds."""

    past: Past
    tally: Tally
    commits_from: str
    files: int
    """By so many files a scope was called broad."""
    skipped: Sequence[tuple[int, str]]
    skipped_count: int
    seconds: float

    def as_data(self) -> dict[str, object]:
        """Return the report as JSON shows it."""
        found, records = self.tally, self.past.latest
        return {
            "commits_from": self.commits_from,
            "records_by": self.past.records_by,
            "notes": list(self.past.notes),
            "skipped": {
                "count": self.skipped_count,
                "lines": [{"line": line, "why": why} for line, why in self.skipped],
            },
            "commits": {"with_files": found.commits, "without_files": found.without_files, "silent": self._silent},
            "silent_share": _share(self._silent, found.commits),
            "calls": {
                "count": found.calls,
                "speaking": found.speaking_calls,
                "silent_share": _share(found.calls - found.speaking_calls, found.calls),
            },
            "shown": {**_spread(found.shown), "by_count": _histogram(found.shown)},
            "tokens": _spread(found.tokens),
            "left_out": dict(sorted(found.drops.items())),
            "citations": _citations(found.citations),
            "sessions": [
                {
                    "commits": one.commits,
                    "shown": one.shown,
                    "shown_per_commit": _share(one.shown, found.commits),
                    "tokens": one.tokens,
                    "tokens_per_commit": _share(one.tokens, found.commits),
                    "silent_share": _share(one.silent, found.commits),
                }
                for one in found.sessions
            ],
            "breadth_files": self.files,
            "records": {
                "could_be_shown": len(found.by_record) + len(found.never),
                "shown": len(found.by_record),
                "top": [self._record(records, uid, count) for uid, count in self._top],
                "never_shown": [
                    {"id": records[uid].id, "title": _title(records[uid]), "why": why}
                    for uid, why in sorted(found.never.items(), key=lambda pair: records[pair[0]].sort_key)
                ],
            },
            "seconds": round(self.seconds, 2),
        }

    def text(self) -> str:
        """Return the report as a page for people."""
        return "\n".join([*self._head(), *self._shown(), *self._cited(), *self._sessions(), *self._records()])

    @property
    def _silent(self) -> int:
        return self.tally.shown.count(0)

    @property
    def _top(self) -> list[tuple[str, int]]:
        records = self.past.latest
        return sorted(self.tally.by_record.items(), key=lambda pair: (-pair[1], records[pair[0]].sort_key))

    def _record(self, records: Mapping[str, Record], uid: str, commits: int) -> dict[str, object]:
        cited = self.tally.cited_by_record[uid]
        return {"id": records[uid].id, "title": _title(records[uid]), "commits": commits, "cited": cited}

    def _head(self) -> Iterator[str]:
        found = self.tally
        yield f"{found.commits:,} commits with files from {self.commits_from}; {self.seconds:.1f} s"
        yield f"records count as there by: {self.past.records_by}"
        yield from (f"  {note}" for note in self.past.notes)
        if found.without_files:
            yield f"  {found.without_files} more commits touch no file and count nowhere"
        if self.skipped_count:
            yield f"  {self.skipped_count} lines are no commits and were skipped:"
            yield from (f"    line {line}: {why}" for line, why in self.skipped)

    def _shown(self) -> Iterator[str]:
        found = self.tally
        quiet = found.calls - found.speaking_calls
        yield ""
        yield f"silent      {_of(self._silent, found.commits, 'commits')}"
        yield f"            {_of(quiet, found.calls, 'calls')}: one for each file of a commit"
        for name, values in (("shown", found.shown), ("tokens", found.tokens)):
            spread = _spread(values)
            if spread["mean_speaking"] is None:
                yield f"{name:<12}nothing"
                continue
            yield (
                f"{name:<12}{spread['total']:,}: {spread['mean']} a commit, {spread['mean_speaking']} where any; "
                f"half of commits at most {spread['p50']}, nine in ten {spread['p90']}, the most {spread['most']}"
            )
        for reason, times in sorted(found.drops.items()):
            yield f"left out    {times:,} × {DROPS.get(reason, reason)}"

    def _cited(self) -> Iterator[str]:
        pairs, everywhere = self.tally.citations, sum(self.tally.shown)
        yield ""
        yield f"{pairs.commits:,} commits speak of a record that could be shown then, by its id or by one of its tasks"
        yield f"precision   {_of(pairs.shown, pairs.shown_in_citing, 'shown in them')} are spoken of"
        yield f"            {_percent(pairs.expected, pairs.shown_in_citing):<7} by chance, of records with a scope"
        yield f"            {_of(pairs.shown, everywhere, 'shown anywhere')}; where a commit names none nobody knows"
        yield f"recall      {_of(pairs.shown, pairs.scoped, 'spoken of that had a scope')} were shown"
        yield f"            {_of(pairs.shown, pairs.reached, 'of these whose scope has a file of the commit')}"
        yield f"            {pairs.standing} spoken of could be shown, {pairs.not_yet} could not yet or no longer"

    def _sessions(self) -> Iterator[str]:
        yield ""
        for one in self.tally.sessions if self.tally.commits else ():
            yield (
                f"sessions of {one.commits:>2} commit{'s' if one.commits > 1 else ' '}: "
                f"{_share(one.shown, self.tally.commits)} records and "
                f"{_share(one.tokens, self.tally.commits)} tokens a commit, "
                f"silent {_percent(one.silent, self.tally.commits)}"
            )

    def _records(self) -> Iterator[str]:
        records, found = self.past.latest, self.tally
        could = len(found.by_record) + len(found.never)
        yield ""
        yield f"{len(found.by_record)} of {could} records that could be shown were"
        for uid, commits in self._top[:LISTED]:
            cited = found.cited_by_record[uid]
            record = records[uid]
            yield f"  {commits:>5,} commits, {cited:>3} cite it  {record.id}  {_title(record)[:LONGEST_TITLE]}"
        for why, said in NEVER.items():
            missed = [records[uid] for uid, reason in found.never.items() if reason == why]
            if missed:
                named = ", ".join(one.id for one in sorted(missed, key=lambda one: one.sort_key)[:LISTED])
                more = f" and {len(missed) - LISTED} more" if len(missed) > LISTED else ""
                yield f"  never shown, {said}: {named}{more}"


def _citations(pairs: Citations) -> dict[str, object]:
    return {
        "commits": pairs.commits,
        "cited": pairs.cited,
        "not_yet": pairs.not_yet,
        "standing": pairs.standing,
        "scoped": pairs.scoped,
        "reached": pairs.reached,
        "shown": pairs.shown,
        "shown_by_id": pairs.by_id,
        "shown_in_citing": pairs.shown_in_citing,
        "precision": _share(pairs.shown, pairs.shown_in_citing),
        "precision_by_chance": _share(pairs.expected, pairs.shown_in_citing),
        "recall": _share(pairs.shown, pairs.scoped),
        "recall_reached": _share(pairs.shown, pairs.reached),
    }


def _spread(values: Sequence[int]) -> dict[str, object]:
    speaking = [value for value in values if value]
    return {
        "total": sum(values),
        "mean": _share(sum(values), len(values)),
        "mean_speaking": _share(sum(speaking), len(speaking)),
        "p50": percentile(values, 0.5),
        "p90": percentile(values, 0.9),
        "p99": percentile(values, 0.99),
        "most": max(values, default=0),
    }


def _histogram(values: Sequence[int]) -> dict[str, int]:
    return {str(count): values.count(count) for count in sorted(set(values))}


def _share(part: float, whole: int) -> float | None:
    """Return a share, or a mean; None where there is nothing to share."""
    return round(part / whole, 3 if part < whole else 2) if whole else None


def _of(part: int, whole: int, what: str) -> str:
    return f"{_percent(part, whole):<7} {part:,} of {whole:,} {what}"


def _percent(part: float, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _title(record: Record) -> str:
    return without_secrets(record.title)
