"""A new decision: what refuses it, and what is answered once it is written."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Literal

from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.copies import refuse_same_title
from orbit_registry.doors.answers.inputs import headline_of, text_from
from orbit_registry.doors.answers.notes import doubts, unseen_numbers, visibility_of
from orbit_registry.doors.answers.table import operation
from orbit_registry.doors.render.hits import near_lines, neighbours_data, show_commands
from orbit_registry.doors.render.records import record_data
from orbit_registry.doors.render.touched import touches_lines
from orbit_registry.errors import UsageError
from orbit_registry.operations.adr import AddResult, NewAdr
from orbit_registry.registry import Registry
from orbit_registry.repository.ids import IN_THE_TREE


@operation("adr new", writes=True)
def adr_new(
    call: Call,
    headline: str | None = None,
    title: str | None = None,
    feature: str | None = None,
    tasks: tuple[str, ...] = (),
    deciders: tuple[str, ...] = (),
    legacy_ids: tuple[str, ...] = (),
    paths: tuple[str, ...] = (),
    tags: tuple[str, ...] = (),
    uses: tuple[str, ...] = (),
    labels: tuple[str, ...] = (),
    summary: str | None = None,
    status: Literal["proposed", "accepted", "rejected", "deprecated"] | None = None,
    distinct_from: tuple[str, ...] = (),
    supersedes: tuple[str, ...] = (),
    pending: bool = False,
    date: str | None = None,
    review_by: str | None = None,
    revisit_when: tuple[str, ...] = (),
    style: Literal["file", "log"] | None = None,
    body_file: str | None = None,
    dry_run: bool = False,
    yes: bool = False,
) -> Answer:
    """Add a decision: its record and its document.

    It takes the next free number on all branches. It is proposed while its text has prompts of the
    template: fill them in, then run `orbit accept`.

    orbit adr new "Keep the snapshot in DuckDB"
    orbit adr new --title "Keep the snapshot in DuckDB" --feature registry --task TASK-1

    Args:
        headline [TITLE]: The decision in one line.
        title: The decision in one line.
        feature: Its feature; this names the log if decisions are in logs.
        tasks: The task in which it was made.
        deciders: Who decided.
        legacy_ids: An earlier name that still resolves.
        paths GLOB: Files it applies to.
        tags: Topic it applies to (scope.tags).
        uses --uses PACKAGE: Package or module; it applies to files that import it: redis.
        labels: Word to group by (labels).
        summary: What it means for someone who edits this code (280 characters).
        status: Its status.
        distinct_from ID: A record that looks alike but differs.
        supersedes --supersedes ID: The decision that it replaces: both records and the new text say
            so.
        pending: The same as --status proposed.
        date: YYYY-MM-DD or YYYY-MM; today if not given.
        review_by DAY: When to look at it again: 2027-03 or 2027-03-31.
        revisit_when WHAT: What makes a review due: words of a commit, path: GLOB, or uses: PACKAGE.
        style: One file, or an entry in a log.
        body_file FILE: Context, Decision and Consequences; - is the standard input.
        dry_run: Print what would be written; take no number.
        yes --yes -y: Do not ask.
    """
    registry = call.registry  # before a person is asked for anything
    request = NewAdr(
        headline_of(call, call.workspace.kinds["adr"], headline, title, asks=not yes),
        feature=feature,
        tasks=tasks,
        deciders=deciders,
        legacy_ids=legacy_ids,
        summary=summary,
        labels=labels,
        status=_status(call, status, pending=pending),
        date=date,
        style=style,
        body=_body(body_file),
    )
    request = replace(
        request,
        paths=paths,
        tags=tags,
        uses=uses,
        distinct_from=distinct_from,
        supersedes=supersedes,
        review_by=review_by,
        revisit_when=revisit_when,
    )

    # It runs under the lock: no record can be added meanwhile.
    admit = partial(refuse_same_title, call, apart=distinct_from)
    added = registry.add_adr(request, admit=admit, dry_run=dry_run)
    return _answer(registry, request, added, dry_run=dry_run)


def _status(call: Call, status: str | None, *, pending: bool) -> str | None:
    if pending and status not in (None, "proposed"):
        raise UsageError(
            "--pending and --status contradict each other", hint="leave one of them out"
        )

    if call.author().role == "agent":
        if status not in (None, "proposed"):
            raise UsageError(
                "an agent proposes decisions; a person accepts them", hint="leave --status out"
            )
        return "proposed"

    if pending:
        return "proposed"

    return status


def _body(file: str | None) -> str | None:
    if file is None:
        return None

    body = text_from(file)
    if not body.strip():
        raise UsageError(
            "the text is empty",
            hint="leave --body-file out: the document then has prompts to fill in",
        )

    return body


def _answer(registry: Registry, request: NewAdr, added: AddResult, *, dry_run: bool) -> Answer:
    """Return the answer to a new decision: what is written, what is like it, what comes next."""
    record = added.record
    with_text = replace(record, prose=request.body or "")
    near = registry.neighbours(with_text)
    touched = registry.touches(with_text)
    judged, unknown = visibility_of(registry, [record])
    judgement = judged.get(record.path)

    waits = record.phase == "pending" and not dry_run and registry.author().role != "agent"
    accept = [f"orbit accept {record.id}"] if waits else []
    replacing = []
    if record.phase != "live":
        replacing = [f"orbit adr supersede {old} --with {record.id}" for old in request.supersedes]

    lines = [*_written_lines(added, dry_run=dry_run)]
    when = f"; when its text is complete, with a cost: {accept[0]}" if accept else ""
    lines.append(f"{record.status.name}{when}")
    if record.phase == "live":
        verb = "would supersede" if dry_run else "supersedes"
        lines += [f"{verb} {old}" for old in record.supersedes or request.supersedes]
    elif replacing:
        lines.append(f"once it is accepted: {'; '.join(replacing)}")

    if judgement is not None and not judgement.is_obvious:
        lines += judgement.lines()

    lines += touches_lines(record, touched, is_written=not dry_run)
    text = "\n  ".join([f"{record.id}  {record.title}", *lines])

    data: dict[str, object] = {**record_data(record)}
    data |= {"document": added.document, "above": added.above, "dry_run": dry_run}
    data["visibility"] = None if judgement is None else judgement.as_data()
    data["neighbours"] = neighbours_data(near)
    data["touches"] = [touch.as_data(record, is_written=not dry_run) for touch in touched]

    following = [f"edit {added.document}", *accept, *replacing, *show_commands(near), "orbit check"]
    notes = [*unseen_numbers(registry), *unknown, *near_lines(near), *doubts(registry, record)]
    return Answer(data, text, following, notes)


def _written_lines(added: AddResult, *, dry_run: bool) -> Iterator[str]:
    if added.above and IN_THE_TREE not in added.above:
        yield f"the highest number so far is {added.above}"

    would = "would write " if dry_run else ""
    yield f"{would}{added.document}"
    yield f"{would}{added.record.path}"
