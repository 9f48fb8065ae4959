"""Replay of a history: what each commit would have been shown, and what that predicts.

Each file of a commit is one call of an editing tool; a few commits in a row are one session.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from orbit_measure.figures import percent
from orbit_measure.history import History, Step, load_history
from orbit_measure.names import BY_ID, NameResolver
from orbit_measure.tables import tables
from orbit_measure.versions import Versions
from orbit_measure.walk import walk
from orbit_registry.errors import listed, plural
from orbit_registry.formats.secrets import without_secrets
from orbit_registry.hook.context import Selection
from orbit_registry.hook.render import render
from orbit_registry.hook.session import tokens
from orbit_registry.model.drops import DROPS
from orbit_registry.repository.votes import half_life_days
from orbit_registry.workspace.workspace import ORBIT, Workspace

Data = Mapping[str, Any]
Row = tuple[object, ...]
SESSIONS = (1, 5, 20)  # lengths of a session in commits that are compared
LISTED, LONGEST_TITLE = 10, 70  # limits of the text; JSON lists all records
NEVER = {
    "no path": "its scope names no path",
    "never touched": "no commit touched a file of its scope while it could be shown",
    "too broad": "only wide globs led to it, and other records with such globs came first",
    "left out": "it applied, and each time something else left it out",
}
"""All reasons why a record was never shown."""


def replay(workspace: Workspace, since: str | None = None, commits: Path | None = None) -> "Replay":
    """Replay the commits of the current branch, or of a file of JSON lines, with the records that
    were live then.
    """
    started = time.monotonic()
    past, tracked, commit_file = load_history(workspace, since, commits)
    files = [file for file in tracked if not file.startswith(f"{ORBIT}/")]
    names = NameResolver(past.latest.values(), workspace.kinds.id_forms)

    with tables("history") as noted:
        for table, rows in _rows(past, Versions(past, files, half_life_days()), names).items():
            noted.fill(table, rows)

        (shown,) = noted.ask("commits")
        (citations,) = noted.ask("citations")
        top, never = noted.ask("top"), noted.ask("never")
        lengths = noted.ask("lengths")

    source = f"{since}..HEAD" if since else "HEAD"
    records = {
        "could_be_shown": len(top) + len(never),
        "shown": len(top),
        "top": top,
        "never_shown": never,
    }
    lines = [{"line": line, "why": reason} for line, reason in commit_file.skipped]
    return Replay(
        {
            "commits_from": source if commits is None else str(commits),
            "records_by": past.records_by,
            "notes": list(past.notes),
            "skipped": {"count": commit_file.skipped_count, "lines": lines},
            **shown,
            "citations": citations,
            "sessions": lengths,
            "breadth_files": len(files),
            "records": records,
            "seconds": round(time.monotonic() - started, 2),
        }
    )


def _rows(past: History, versions: Versions, names: NameResolver) -> Mapping[str, list[Row]]:
    """Return the rows of each table, from a walk for each length of a session."""
    rows: dict[str, list[Row]] = {"records": list(_could_be_shown(past, versions))}
    for length in SESSIONS:
        for number, (step, selections) in enumerate(walk(past.steps, versions.edit, length)):
            for selection in selections:
                cost = tokens(render(selection)) if selection.matches or selection.named else 0
                rows.setdefault("edits", []).append((length, number, len(selection.matches), cost))

            if length == 1:
                for table, row in _of_commit(number, step, selections, versions, names):
                    rows.setdefault(table, []).append(row)

    return rows


def _could_be_shown(past: History, versions: Versions) -> Iterator[Row]:
    """Yield the records that could be shown at some time, in the order of lists."""
    ordered = sorted(past.latest.values(), key=lambda record: record.sort_key)
    for position, record in enumerate(ordered):
        mine = versions.of_record(record.uid)
        if mine:
            title = without_secrets(record.title)
            yield record.uid, position, record.id, title, bool(mine & versions.scoped)


def _of_commit(
    number: int,
    step: Step,
    selections: Sequence[Selection],
    versions: Versions,
    names: NameResolver,
) -> Iterator[tuple[str, Row]]:
    """Yield what there is to note of a commit that is one session, each with its table."""
    scoped = versions.scoped & step.standing
    yield "steps", (number, len(selections), scoped.bit_count())
    if not selections:
        return

    shown: set[str] = set()
    left_out: set[tuple[str, str]] = set()
    for selection in selections:
        shown |= versions.uids(match.row for match in selection.matches)
        for row, reason in selection.drops:
            left_out |= {(uid, reason) for uid in versions.uids([row])}

    for uid in shown:
        yield "shown", (number, uid)

    for uid, reason in left_out:
        if uid not in shown:
            yield "left_out", (number, uid, reason)

    for uid in versions.applying(step):
        yield "applied", (number, uid)

    for uid, how in names.cited(step.commit.message).items():
        mine = versions.of_record(uid) & step.standing
        yield "cited", (number, uid, how == BY_ID, bool(mine), bool(mine & scoped))


@dataclass(frozen=True, slots=True)
class Replay:
    """Counts of a replay."""

    data: Mapping[str, Any]

    def as_data(self) -> Mapping[str, Any]:
        """Return the counts for JSON."""
        return self.data

    def text(self) -> str:
        """Return the counts as text."""
        parts = (_head, _shown, _cited, _sessions, _records)
        return "\n".join(chain.from_iterable(part(self.data) for part in parts))


def _head(data: Data) -> Iterator[str]:
    commits, skipped = data["commits"], data["skipped"]
    word = "commit" if commits["with_files"] == 1 else "commits"
    yield (
        f"{commits['with_files']:,} {word} with files from {data['commits_from']}; "
        f"{data['seconds']:.1f} s"
    )
    yield f"records count as there by: {data['records_by']}"
    yield from (f"  {note}" for note in data["notes"])

    if commits["without_files"]:
        others = plural(commits["without_files"], "more commit touches", "more commits touch")
        yield f"  {others} no file and count nowhere"

    if skipped["count"]:
        lines = plural(
            skipped["count"], "line is no commit and was", "lines are not commits and were"
        )
        yield f"  {lines} skipped:"
        yield from (f"    line {row['line']}: {row['why']}" for row in skipped["lines"])


def _shown(data: Data) -> Iterator[str]:
    commits, calls = data["commits"], data["calls"]
    silent = calls["count"] - calls["speaking"]
    yield ""
    yield f"silent      {_of(commits['silent'], commits['with_files'], 'commits')}"
    yield f"            {_of(silent, calls['count'], 'calls')}: one for each file of a commit"

    for name in ("shown", "tokens"):
        spread = data[name]
        if spread["mean_speaking"] is None:
            yield f"{name:<12}nothing"
            continue

        yield (
            f"{name:<12}{spread['total']:,}: {spread['mean']} a commit, "
            f"{spread['mean_speaking']} if any; "
            f"half of commits at most {spread['p50']}, nine in ten {spread['p90']}, the "
            f"most {spread['most']}"
        )

    for reason, times in data["left_out"].items():
        yield f"left out    {times:,} × {DROPS.get(reason, reason)}"


def _cited(data: Data) -> Iterator[str]:
    pairs, everywhere = data["citations"], data["shown"]["total"]
    shown, displayed = pairs["shown"], pairs["shown_in_citing"]
    chance = pairs["precision_by_chance"]
    yield ""
    yield (
        f"{plural(pairs['commits'], 'commit names', 'commits name')} a record that could be shown "
        f"then, by its id or by one of its tasks"
    )
    yield f"precision   {_of(shown, displayed, 'shown in them')} are named"
    by_chance = "-" if chance is None else f"{100 * chance:.1f} %"
    yield f"            {by_chance:<7} by chance, of records with a scope"
    anywhere = _of(shown, everywhere, "shown anywhere")
    yield f"            {anywhere}; a commit that names none does not count"
    yield f"recall      {_of(shown, pairs['scoped'], 'named that had a scope')} were shown"
    reached = "of these whose scope has a file of the commit"
    yield f"            {_of(shown, pairs['reached'], reached)}"
    yield (
        f"            {pairs['standing']} named could be shown, {pairs['not_yet']} could not "
        f"yet or no longer"
    )


def _sessions(data: Data) -> Iterator[str]:
    yield ""
    if not data["commits"]["with_files"]:
        return

    for row in data["sessions"]:
        records, used = row["shown_per_commit"], row["tokens_per_commit"]
        head = f"sessions of {row['commits']:>2} commit{'s' if row['commits'] > 1 else ' '}"
        silent = f"silent {100 * row['silent_share']:.1f} %"
        yield f"{head}: {records} records and {used} tokens a commit, {silent}"


def _records(data: Data) -> Iterator[str]:
    records = data["records"]
    could = plural(records["could_be_shown"], "record")
    yield ""
    yield f"{records['shown']} of {could} that could be shown were"

    for row in records["top"][:LISTED]:
        title = row["title"][:LONGEST_TITLE]
        yield f"  {row['commits']:>5,} commits, {row['cited']:>3} cite it  {row['id']}  {title}"

    for reason, label in NEVER.items():
        ids = [row["id"] for row in records["never_shown"] if row["why"] == reason]
        if ids:
            yield f"  never shown, {label}: {listed(ids, LISTED)}"


def _of(part: int, total: int, what: str) -> str:
    return f"{percent(part, total):<7} {part:,} of {total:,} {what}"
