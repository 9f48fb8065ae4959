"""`orbit link` and `unlink`, and what moves records from status to status."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from orbit_registry.cli.output import (
    Decorated,
    emit,
    may_ask,
    print_refusals,
    visibility_data,
    visibility_of,
    visibility_text,
)
from orbit_registry.cli.writer import say
from orbit_registry.errors import (
    OrbitError,
    UsageError,
    plural,
)
from orbit_registry.formats.untrusted import escaped_line, inert_line
from orbit_registry.judgements.status_evidence import evidence_of
from orbit_registry.model.freshness import FRESH
from orbit_registry.model.record import Record
from orbit_registry.registry import Registry
from orbit_registry.render import records as render
from orbit_registry.render.hits import MOST_NAMED
from orbit_registry.repository.codec import list_in
from orbit_registry.workspace.author import Review

if TYPE_CHECKING:
    from orbit_registry.lifecycle.touches import Touch
    from orbit_registry.matching.visibility import Visibility


def binding_options(command: Decorated) -> Decorated:
    """Add `--expect` and `--yes` to a command that approves records; see `review_of`."""
    expect = "Only if the record has this digest, which `show` and `review` print."
    yes = click.option(
        "--yes", is_flag=True, help="Do not ask; else a terminal shows the record first."
    )
    return click.option("--expect", metavar="DIGEST", help=expect)(yes(command))


def review_of(
    any_ids: Sequence[str], review: Review, expect: str | None, yes: bool, output: str
) -> Callable[[Record], Review]:
    """Return a function that reviews a record,
    bound to the expected digest or to what a terminal showed.
    """
    if expect is not None and (len(any_ids) != 1 or not expect.strip()):
        raise UsageError(
            "--expect is the digest of one record", hint="name one id, or take them one by one"
        )

    stated_review = replace(review, expected=(expect or "").strip())
    asks = not (yes or expect) and output == "text" and sys.stdin.isatty()
    return lambda record: (
        _ask_person(record, stated_review) if asks and record.phase == "pending" else stated_review
    )


def rejection_of(review: Review, output: str) -> Callable[[Record], Review]:
    """Return a function that rejects a record;
    a missing reason is asked for once, if the record can be rejected.
    """

    def reviewed(record: Record) -> Review:
        nonlocal review
        if any(record.kind.is_rejection(record.kind.status(to)) for to in record.status.to):
            review = with_reason(review, output)
        return review

    return reviewed


def with_reason(review: Review, output: str) -> Review:
    """Return the review of a rejection; a terminal asks for a missing reason."""
    if review.reason:
        return review
    if not may_ask(output):
        raise UsageError("a rejection needs a reason", hint='--reason "the linter says so already"')
    return replace(review, reason=" ".join(click.prompt("Why").split()))


def _moved_text(moved: Sequence[tuple[Record, Record]], *, dry_run: bool = False) -> str:
    lines = []
    changed = [
        after for before, after in moved if before.status.name != after.status.name and not dry_run
    ]
    for before, after in moved:
        becomes = (
            "is already"
            if before.status.name == after.status.name
            else "would be"
            if dry_run
            else "is"
        )
        lines.append(f"{after.id} {becomes} {after.status.name}  {after.title}")
        evidence = evidence_of(before)
        is_unclear = evidence.statement in ("not understood", "not read")
        says_more = len(evidence.words.split()) > 1
        if (is_unclear or says_more) and before.status.name != after.status.name:
            lines.append(f"  the status was `{inert_line(evidence.words)}`")

    documents = [
        record.source.path for record in changed if record.source and record.kind.in_document
    ]
    if len(changed) <= MOST_NAMED:
        return "\n".join(
            [*lines, *(f"  {path}" for path in (*documents, *(record.path for record in changed)))]
        )

    return "\n".join(
        [
            *lines,
            f"written: {plural(len(changed), 'record')}"
            + (" and their documents" if documents else ""),
        ]
    )


def print_moved(
    registry: Registry,
    output: str,
    any_ids: Sequence[str],
    move: Callable[[str], tuple[Record, Record]],
    *,
    dry_run: bool = False,
    empty: str = "",
    next_commands: Sequence[str] = (),
) -> None:
    """Move records one by one, and print each of them, then each refusal.

    Of a few that hold now it says where agents are shown them, of more how many are overlooked.
    """
    moved: list[tuple[Record, Record]] = []
    refused: list[OrbitError] = []
    for any_id in any_ids:
        try:
            moved.append(move(any_id))
        except OrbitError as error:
            refused.append(error)

    data = [render.record_data(record) for _, record in moved]
    text = _moved_text(moved, dry_run=dry_run) + _stopped_text(moved)
    accepted = [record for _, record in moved if record.phase == "live"]
    if accepted and not dry_run:
        judged = visibility_of(registry, accepted)
        text += _shown_text(judged, accepted)
        touched = _touched_by(registry, accepted)
        text += _touched_text(touched)
        data = [
            {
                **render.record_data(record),
                **visibility_data(judged, record),
                **_touched_data(touched, record),
            }
            for _, record in moved
        ]

    if refused:
        print_refusals(output, data or None, text, refused)

    emit(output, data, text or empty, next_commands=next_commands)


def _touched_by(
    registry: Registry, records: Sequence[Record]
) -> Mapping[str, tuple[Record, Sequence[Touch]]]:
    """Return what accepted decisions touch, by their paths; of many it would be a long list."""
    decisions = [record for record in records if record.kind.in_document]
    if not decisions or len(decisions) > MOST_NAMED:
        return {}

    return {
        record.path: (record, registry.touches(registry.whole([record])[0])) for record in decisions
    }


def _touched_text(touched: Mapping[str, tuple[Record, Sequence[Touch]]]) -> str:
    from orbit_registry.render.touched import touches_lines

    lines: list[str] = []
    for record, of_record in touched.values():
        if len(touched) > 1 and of_record:
            lines.append(record.id)
        lines += [f"  {line}" for line in touches_lines(record, of_record)]

    return "".join(f"\n{line}" for line in lines)


def _touched_data(
    touched: Mapping[str, tuple[Record, Sequence[Touch]]], record: Record
) -> dict[str, object]:
    if not record.kind.in_document:
        return {}

    _, of_record = touched.get(record.path, (record, ()))
    return {"touches": [touch.as_data(record) for touch in of_record]}


def _stopped_text(moved: Sequence[tuple[Record, Record]]) -> str:
    """Return which checks of records no longer run."""
    lines: list[str] = []
    for before, after in moved:
        if before.phase != "live" or after.phase != "closed":
            continue

        checks = [entry for entry in list_in(before.data, "checks") if isinstance(entry, dict)]
        names = ", ".join(f"{before.id}/{entry.get('id')}" for entry in checks)
        if names:
            runs = "its check no longer runs" if len(checks) == 1 else "its checks no longer run"
            lines.append(f"\n  {runs}: {escaped_line(names)}")

    return "".join(lines)


def _shown_text(judged: Mapping[str, Visibility], records: Sequence[Record]) -> str:
    if len(records) > MOST_NAMED:
        from orbit_registry.matching.visibility import SUGGEST, overlooked

        missing = len(overlooked(records, judged))
        counts = f"{missing:,} of {len(records):,} are shown at no edit: `{SUGGEST}`"
        return f"\n{counts}" if missing else ""

    texts = {record.id: visibility_text(judged, record) for record in records}
    if len(texts) == 1:
        return "".join(texts.values())

    return "".join(f"\n{record_id}{text}" for record_id, text in texts.items() if text)


def line(value: str | None, option: str) -> str:
    """Return an option's text in one line; empty if not given."""
    if value is not None and not value.strip():
        raise UsageError(
            f"{option} is empty", hint=f'say it in words: {option} "the linter says so already"'
        )
    return " ".join((value or "").split())


def _ask_person(record: Record, review: Review) -> Review:
    say(render.record_text(record, FRESH) + render.details_text(record))
    click.confirm(f"Accept {record.id}?", abort=True, err=True)
    return replace(review, expected=record.digest)


def kind_name(registry: Registry, word: str | None) -> str | None:
    """Return the kind that a person names; None if none is named."""
    return None if word is None else registry.workspace.kinds.named(word).name
