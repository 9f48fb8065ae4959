"""`orbit list`, `show`, `search`, `link`, `unlink` and `related`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orbit_registry.cli.output import (
    Decorated,
    emit,
    format_option,
    from_root,
    may_ask,
    note_empty,
    note_unknown,
    open_registry,
    print_note,
    print_refusals,
    visibility_data,
    visibility_of,
    visibility_text,
    warn_of_unread,
)
from orbit_registry.cli.writer import say
from orbit_registry.errors import (
    AmbiguousIdError,
    OrbitError,
    RecordNotFoundError,
    UsageError,
    listed,
    plural,
)
from orbit_registry.formats.untrusted import escaped_line, inert_line
from orbit_registry.judgements.status_evidence import evidence_of
from orbit_registry.lifecycle.built import State
from orbit_registry.model.diagnostic import Diagnostic
from orbit_registry.model.freshness import FRESH
from orbit_registry.model.ids import DIRECTIONS, Link
from orbit_registry.model.kind import PHASES, Kind
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import Retirement
from orbit_registry.registry import Registry
from orbit_registry.render import records as render
from orbit_registry.render.hits import GENERIC, MOST_NAMED, result_data, result_text
from orbit_registry.repository.codec import list_in
from orbit_registry.repository.skills import SKILL
from orbit_registry.search.query import BUDGETS, Query, context_weights
from orbit_registry.workspace.author import Review
from orbit_registry.workspace.event_log import note_opened

if TYPE_CHECKING:
    from orbit_registry.lifecycle.touches import Touch
    from orbit_registry.matching.visibility import Visibility


def list_command(kind: Kind | None) -> click.Command:
    """Return `orbit list`, or `orbit KIND list`."""

    def list_records(
        output: str,
        status: tuple[str, ...],
        phase: tuple[str, ...],
        everything: bool,
        tag: tuple[str, ...],
        label: tuple[str, ...],
        legacy_id: str | None,
        feature: str | None,
        task: str | None,
        sort: str,
        since: str | None,
        limit: int | None,
        is_due: bool,
        built: tuple[str, ...] = (),
        kind_word: str | None = None,
        kind_option: str | None = None,
    ) -> None:
        registry = open_registry()
        kinds = registry.workspace.kinds
        only = kind or (kinds.named(word) if (word := kind_word or kind_option) else None)
        _refuse_unknown_status(status, [only] if only else kinds)
        records = registry.collection.records
        earliest = _day(since) if since is not None else ""
        former = (
            {record.path for record in records.with_former_name(legacy_id)}
            if legacy_id is not None
            else set()
        )

        in_code = registry.built() if built else {}
        matching = [
            record
            for record in (records.of_kind(only.name) if only else records)
            if (not built or (record.path in in_code and in_code[record.path].state in built))
            and (not status or record.status.name in status)
            and (not phase or record.phase in phase)
            and registry.workspace.config.is_tagged(record.tags, tag)
            and all(word in record.words("labels") for word in label)
            and (legacy_id is None or record.path in former)
            and (feature is None or record.text("feature") == feature)
            and (task is None or task in record.words("tasks") or task in record.scope.tasks)
            and str(record.data["updated_at"]) >= earliest
        ]

        due = registry.due_reviews() if is_due else {}
        if is_due:
            matching = [record for record in matching if record.path in due]

        closed_too = bool(everything or status or phase or legacy_id is not None)
        listed = [record for record in matching if closed_too or record.phase != "closed"]
        chosen = render.in_order(listed, sort)[:limit]
        if only is None:
            text = render.short_table(chosen) or "no records"
        else:
            text = render.records_table(
                chosen, [*only.columns, *(["votes"] if sort == "votes" and only.voted else [])]
            )

        hidden = len(matching) - len(listed)
        text += f"\n{plural(hidden, 'closed record')} not listed: --all lists all" if hidden else ""
        for record in chosen if is_due else ():
            text += f"\n{record.id}: {due[record.path]}"

        for record in chosen if built else ():
            text += f"\n{record.id}: {in_code[record.path].line}"

        rows = [render.record_data(record, due.get(record.path)) for record in chosen]
        if built:
            rows = [
                {**row, "built": in_code[record.path].as_data()}
                for row, record in zip(rows, chosen, strict=True)
            ]
        emit(output, rows, text)
        note_unknown(registry, tag=tag, label=label, feature=[feature] if feature else ())
        warn_of_unread(registry)

    statuses = click.Choice(list(kind.statuses)) if kind is not None else None
    params: list[click.Parameter] = [
        click.Option(
            ["--status"],
            type=statuses,
            multiple=True,
            help="Only with this status, closed ones too.",
        ),
        click.Option(
            ["--phase"],
            type=click.Choice(PHASES),
            multiple=True,
            help="pending: waits for review; live; closed.",
        ),
        click.Option(["--all", "everything"], is_flag=True, help="List closed records too."),
        click.Option(["--tag"], multiple=True, help="Only with this scope tag."),
        click.Option(["--label"], multiple=True, help="Only with this label."),
        click.Option(
            ["--legacy-id"],
            metavar="NAME",
            help="Only the record with this earlier name: project/ADR-006.",
        ),
        click.Option(["--due", "is_due"], is_flag=True, help="Only those to be looked at again."),
        click.Option(["--feature"], help="Only of this feature."),
        click.Option(["--task"], help="Only of this task."),
        click.Option(
            ["--sort"],
            type=click.Choice(list(render.ORDERS)),
            default="id",
            show_default=True,
            help="By votes (recent ones weigh more), last change, or id.",
        ),
        click.Option(
            ["--since"], metavar="DATE", help="Only changed on or after this day: 2026-11-01."
        ),
        click.Option(["--limit"], type=click.IntRange(min=1), help="At most this many."),
    ]
    if kind is None or kind.in_document:
        params.append(
            click.Option(
                ["--built"],
                type=click.Choice([state.value for state in State]),
                multiple=True,
                help="Only decisions that the code follows (yes), or has no trace of (no).",
            )
        )
    if kind is None:
        params.insert(0, click.Argument(["kind_word"], metavar="[KIND]", required=False))
        params.insert(
            1,
            click.Option(
                ["--kind", "kind_option"], metavar="KIND", help="Only records of this kind."
            ),
        )

    what, example = (
        (kind.labels.lower(), f"{kind.name} list")
        if kind
        else ("records of every kind, or of one", "list")
    )
    examples = ("", " --all --sort updated", " --since 2026-11-01 --limit 20")
    lines = "\n".join(f"orbit {example}{options}" for options in examples)
    summary = f"List {what}.\n\n{lines}"
    return format_option(click.Command("list", params=params, callback=list_records, help=summary))


def _day(text: str) -> str:
    """Return a day as the files have it, if it is one."""
    try:
        return date.fromisoformat(text.strip()).isoformat()
    except ValueError:
        hint = "write the day as in `--since 2026-11-01`"
        raise UsageError(f"`{text[:40]}` is not a day", hint=hint) from None


def _refuse_unknown_status(statuses: tuple[str, ...], kinds: Iterable[Kind]) -> None:
    words = list(dict.fromkeys(name for kind in kinds for name in kind.statuses))
    for status in (word for word in statuses if word not in words):
        raise UsageError(
            f"no record can have the status `{status}`", hint=f"one of {listed(words, 8)}"
        )


@click.command("show")
@click.argument("any_id", metavar="ID")
@format_option
def show(any_id: str, output: str) -> None:
    """Show a record by any id or by its document, or one chunk of a resource.

    orbit show ADR-0012
    orbit show docs/adr/0012-use-redis.md          # the record of a document
    orbit show project-learnings/ADR-006
    orbit show RES-7k3fq#2c26b46b68
    """
    registry = open_registry()
    if any_id.strip() and Path(any_id).exists() and any_id not in registry.collection.records:
        any_id = _record_at(registry, any_id)

    print_part(registry, *registry.part(any_id), output)


def _record_at(registry: Registry, path: str) -> str:
    """Return a path from the root at which a record is."""
    name = from_root(registry, path)
    try:
        registry.collection.records.get(name)
    except RecordNotFoundError:
        hint = f"`orbit explain {path}` says which records apply to it"
        if Path(path).suffix.lower() == ".md":
            hint = f"if it is a decision, `orbit import {path}` makes its record"
        raise RecordNotFoundError(f"{path} belongs to no record", hint=hint) from None
    except AmbiguousIdError:
        pass  # the caller lists them

    return name


def print_part(registry: Registry, record: Record, name: str, output: str) -> None:
    """Print one chunk of a record; the whole record if `name` is empty."""
    if not name:
        print_record(registry, record, output)
        return

    chunk = render.named_chunk(record, name)
    note_opened(registry.workspace, record.id)
    freshness = registry.freshness([record]).get(record.path, FRESH)
    retirement = registry.collection.records.retirement(record)
    text = render.with_retirement(
        retirement, f"{render.chunk_head(record, chunk, freshness)}\n\n{chunk.body}"
    )

    data = {**render.chunk_data(record, chunk, freshness), **render.retirement_data(retirement)}
    emit(output, data, text, next_commands=[f"orbit show {record.id}"])


def print_record(registry: Registry, record: Record, output: str) -> None:
    """Print a record with its freshness and what to do about it."""
    from orbit_registry.analytics.report import outcome, outcome_words  # `orbit list` does without
    from orbit_registry.repository.documents import load_document

    note_opened(registry.workspace, record.id)
    freshness = registry.freshness([record]).get(record.path, FRESH)
    state = None if record.phase == "closed" else freshness.state.value
    due = registry.due_reviews([record]).get(record.path)
    became = outcome(registry.workspace, record.id)
    judged = visibility_of(registry, [record])
    in_code = registry.built().get(record.path) if record.kind.in_document else None
    data = {
        **visibility_data(judged, record),
        "freshness_state": state,
        "freshness_reasons": render.reasons_data(freshness),
        "outcome": became or None,
    }
    if record.kind.in_document:
        data["built"] = None if in_code is None else in_code.as_data()

    retirement = registry.collection.records.retirement(record)
    commands = (
        render.remedies(record, freshness) if freshness.reasons else _show_successors(retirement)
    )
    amended_by = render.amendments(record, registry.collection.records)
    text = render.with_retirement(
        retirement,
        render.record_text(
            record,
            freshness,
            outcome_words(became),
            judged.get(record.path),
            due,
            amended_by,
            in_code,
        )
        + render.details_text(record),
    )

    if record.source is not None and not record.prose.strip():
        document = load_document(registry.workspace, record.source.path)
        if isinstance(document, Diagnostic):
            print_note(
                f"its document can't be read: {document.location}: {document.message}; "
                f"{document.hint}"
            )

    data_of_record = {
        **render.record_data(record, due, prose=True),
        **data,
        **render.retirement_data(retirement),
    }
    emit(output, data_of_record, text, next_commands=commands)


def _show_successors(retirement: Retirement | None) -> list[str]:
    return (
        [f"orbit show {successor.id}" for successor in retirement.successors]
        if retirement is not None
        else []
    )


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


@click.command("link")
@click.argument("subject", metavar="ID")
@click.argument("rel")
@click.argument("target", metavar="OTHER")
@click.option("--reason", default="", metavar="TEXT", help="Why; `overrides` needs it.")
@format_option
def link(subject: str, rel: str, target: str, reason: str, output: str) -> None:
    """Link two records.

    REL is amends, extends, derived_from, has_script, has_doc, proves, contradicts, overrides,
    related_to, implements, resolves or references. A word that reads from the other end
    (amended_by) is written there.

    orbit link ADR-0012 amends ADR-0007
    orbit link ADR-0007 amended_by ADR-0012        # the same
    orbit link RES-7k3fq proves R-9x2ab            # a script that enforces a rule
    orbit link ADR-0012 overrides org:ADR-0007 --reason "needs graph queries"
    """
    from orbit_registry.operations import (
        links as linking,
    )  # it reads documents, which `related` does not

    registry = open_registry()
    records, author = registry.collection.records, registry.author()
    edge = linking.link(registry.workspace, records, subject, rel, target, author, reason.strip())
    _print_link(*edge, output, "")


@click.command("unlink")
@click.argument("subject", metavar="ID")
@click.argument("rel")
@click.argument("target", metavar="OTHER")
@format_option
def unlink(subject: str, rel: str, target: str, output: str) -> None:
    """Remove a link that a record states.

    orbit unlink ADR-0012 amends ADR-0007
    """
    from orbit_registry.operations import links as linking

    registry = open_registry()
    edge = linking.unlink(
        registry.workspace, registry.collection.records, subject, rel, target, registry.author()
    )
    _print_link(*edge, output, "no longer: ")


def _print_link(record: Record, edge: Link, output: str, before: str) -> None:
    data = {"id": record.id, "rel": edge.rel, "to": edge.to, "path": record.path}
    text = f"{before}{record.id} {edge.rel} {edge.to}\n  {record.path}"
    emit(output, data, text, next_commands=[f"orbit related {record.id}", "orbit check"])


@click.command("related")
@click.argument("any_id", metavar="ID")
@click.option(
    "--depth",
    type=click.IntRange(1, 20),
    default=1,
    show_default=True,
    help="At most this many links away.",
)
@click.option(
    "--direction",
    type=click.Choice(DIRECTIONS),
    default="both",
    show_default=True,
    help="Links from it, links to it, or both.",
)
@format_option
def related(any_id: str, depth: int, direction: str, output: str) -> None:
    """Show links and citations of a record.

    orbit related ADR-0012
    orbit related ADR-0012 --depth 2 --direction out
    """
    from orbit_registry.snapshot.related import related as walked  # DuckDB

    registry = Registry.open()
    record = registry.get(any_id)
    result = walked(registry.workspace, registry.reading, record, depth=depth, direction=direction)
    retirement = registry.collection.records.retirement(record)
    shows = [f"orbit show {neighbour.record.id}" for neighbour in result.reached[:3]]

    data = {**render.related_data(result), **render.retirement_data(retirement)}
    emit(
        output,
        data,
        render.with_retirement(retirement, render.related_text(result)),
        next_commands=shows,
    )

    warn_of_unread(registry)


def search_command(kind: Kind | None) -> click.Command:
    """Return `orbit search`, or `orbit KIND search`."""

    def search(text: tuple[str, ...], output: str, explain: bool, **values: Any) -> None:
        registry = open_registry()
        path = values["path"]
        query = Query(
            " ".join(text),
            kind=kind.name if kind is not None else _searched_kind(registry, values.get("kind")),
            tags=values["tag"],
            path=from_root(registry, path) if path is not None else None,
            versions=values["version"],
            context=context_weights(values["context_tags"]),
            limit=values["limit"] or 0,
            everything=values["everything"],
            budget=values["budget"] or "",
        )
        result = registry.search(query)
        there = [
            ("orbit -C ~" if hit.record.path.startswith("~/") else "orbit", hit.name)
            for hit in result.hits[:3]
            if hit.record.kind.name != SKILL
        ]
        show_commands = [f"{orbit} show {name}" for orbit, name in there]

        summary = result_text(result, explain=explain)
        emit(output, result_data(result, explain=explain), summary, next_commands=show_commands)

        if output == "text" and result.generic:
            say(GENERIC, err=True)
        if output == "text" and result.note:
            say(result.note, err=True)
        if output == "text" and not result.hits:
            note_empty(registry, by_scope=bool(values["path"] or values["tag"]))
        if output == "text" and result.unknown and len(registry.collection.records):
            say(f"no record has {', '.join(result.unknown)}", err=True)

        note_unknown(registry, tag=values["tag"])
        warn_of_unread(registry)

    params: list[click.Parameter] = [
        click.Argument(["text"], nargs=-1),
        click.Option(["--tag"], multiple=True, help="Only with this scope tag."),
        click.Option(["--path"], metavar="PATH", help="Only records that apply to this file."),
        click.Option(
            ["--version"], multiple=True, help="Only records for this version; all of several."
        ),
        click.Option(
            ["--context-tags"],
            default="",
            metavar="TAGS",
            help="Tags that count more: `reviewer,jira-api=1.5`.",
        ),
        click.Option(
            ["--limit"],
            type=click.IntRange(min=1),
            help="At most this many; else the budget decides.",
        ),
        click.Option(
            ["--budget"],
            type=click.Choice(list(BUDGETS)),
            help="How deep to search; else the text decides.",
        ),
        click.Option(["--explain"], is_flag=True, help="Print the parts of each score."),
        click.Option(
            ["--all", "everything"], is_flag=True, help="Include pending and closed records."
        ),
    ]
    if kind is None:
        params.insert(1, click.Option(["--kind"], help="Only of this kind."))

    what = kind.labels.lower() if kind is not None else "records of every kind"
    example = f"orbit {kind.name} search" if kind is not None else "orbit search"
    summary = (
        f'Find {what} by words.\n\nThe best match comes first.\n\n{example} "retry '
        f'uploads" --tag network'
    )
    return format_option(click.Command("search", params=params, callback=search, help=summary))


def _searched_kind(registry: Registry, word: str | None) -> str | None:
    return word if word == SKILL else kind_name(registry, word)


def kind_name(registry: Registry, word: str | None) -> str | None:
    """Return the kind that a person names; None if none is named."""
    return None if word is None else registry.workspace.kinds.named(word).name


list_records = list_command(None)
search = search_command(None)
