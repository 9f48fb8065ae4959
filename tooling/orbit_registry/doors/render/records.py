"""Records, votes and freshness as JSON data and as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from orbit_registry.doors.render.blocks import Block, Facts, Table, rendered
from orbit_registry.errors import RecordNotFoundError
from orbit_registry.formats.adr.rejected_option import RejectedOption
from orbit_registry.formats.untrusted import escaped_line
from orbit_registry.lifecycle.review_due import Due
from orbit_registry.model.diagnostic import Diagnostic
from orbit_registry.model.freshness import Freshness, expires_at
from orbit_registry.model.kind import Status
from orbit_registry.model.rank import rank_order
from orbit_registry.model.record import CREATED_FROM, Record
from orbit_registry.model.record_set import Retirement
from orbit_registry.model.votes import Vote, distinct_votes, format_time, parse_time, tally
from orbit_registry.operations.freshness.remedies import remedies
from orbit_registry.repository.codec import hides_record
from orbit_registry.repository.votes import half_life_days, vote_data

if TYPE_CHECKING:
    from orbit_registry.lifecycle.built import Built
    from orbit_registry.matching.visibility import Visibility
    from orbit_registry.search.chunks import Chunk
    from orbit_registry.snapshot.related import Related  # its imports take longer than most answers

NEAR = 3  # so many chunks are named where a name is wrong
ORDERS = ("votes", "updated", "id")


def in_order(records: Sequence[Record], sort: str) -> list[Record]:
    """Return records in one of `ORDERS`; `votes` is the push order."""
    if sort == "updated":
        return sorted(records, key=_updated, reverse=True)
    if sort == "votes":
        half_life = half_life_days()
        return sorted(records, key=lambda record: rank_order(record, half_life))
    return list(records)


def _updated(record: Record) -> datetime:
    return parse_time(str(record.data["updated_at"]))


def vote_cell(votes: Sequence[Vote]) -> str:
    """Return the count, with its current weight if that is less: `3 (1.25)`;
    empty without votes.
    """
    result = tally(votes, datetime.now(UTC), half_life_days())
    if not result.count:
        return ""
    weight = f"{result.score:.2f}"
    if weight == f"{result.count:.2f}":
        return f"{result.count}"

    return f"{result.count} ({weight})"


def _vote_words(votes: Sequence[Vote]) -> str:
    result = tally(votes, datetime.now(UTC), half_life_days())
    if not result.count or result.last is None:
        return "none"

    tasks = Counter(vote.task_id for vote in distinct_votes(votes))
    by_task = ", ".join(
        f"{task} {count}" if count > 1 else task for task, count in sorted(tasks.items())
    )
    return (
        f"{result.count} (weighing {result.score:.2f} now), last {format_time(result.last)}, "
        f"in {by_task}"
    )


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return rows as aligned columns."""
    return rendered([Table(columns, list(rows))])


def short_table(records: Iterable[Record]) -> str:
    """Return records of any kind as a table; empty without any."""
    rows = [(record.id, record.kind.name, record.status.name, record.title) for record in records]
    return table(("id", "kind", "status", "title"), rows)


def records_table(records: Sequence[Record], columns: Sequence[str]) -> str:
    """Return records as a table of their kind's columns, the headline last."""
    if not records:
        return "no records"

    headline = records[0].kind.headline
    filled = []
    for column in columns:
        cells = [_cell(record, column) for record in records]
        if column not in (headline, "title") and any(cells):
            filled.append((column, cells))

    names = [name for name, _ in filled]
    titles = [record.title for record in records]
    rows = list(zip(*(cells for _, cells in filled), titles, strict=True))
    return table([*names, headline], rows)


def _cell(record: Record, column: str) -> str:
    if column == "votes":
        return vote_cell(record.votes)
    if column == "status" and _is_expired(record):
        return "expired"
    return _plain_text(record.data.get(column, ""))


def _is_expired(record: Record) -> bool:
    end = expires_at(record) if record.phase == "live" else None
    return end is not None and end <= datetime.now(UTC)


def freshness_data(record: Record, freshness: Freshness) -> dict[str, object]:
    """Return a record's freshness as JSON data."""
    return {
        "id": record.id,
        "kind": record.kind.name,
        "title": record.title,
        "path": record.path,
        "state": freshness.state.value,
        "cause": freshness.cause.value if freshness.cause else None,
        "reasons": reasons_data(freshness),
        "do": remedies(record, freshness),
    }


def reasons_data(freshness: Freshness) -> list[Mapping[str, object]]:
    """Return the reasons for a record's freshness as JSON data."""
    return [
        {
            "cause": reason.cause.value,
            "subject": reason.subject,
            "message": reason.message,
            "gone": reason.is_gone,
        }
        for reason in freshness.reasons
    ]


def record_data(
    record: Record, due: Due | None = None, *, prose: bool = False
) -> dict[str, object]:
    """Return a record as JSON data: its file's fields, kind, phase, path,
    and the headline as `title`.
    """
    head: dict[str, object] = {"kind": record.kind.name, "phase": record.phase, "path": record.path}
    data = {**head, "title": record.title, **record.data}
    if record.is_replaced:
        data |= {"status": record.status.name, "stated_status": record.stated_status.name}
    if record.rejected:
        data["rejected"] = [option.as_data() for option in record.rejected]

    data |= head
    if _is_expired(record):
        data["expired"] = True
    if due is not None:
        data["review_due"] = due.as_data()
    if record.kind.in_file and record.source is not None:
        data["text"] = {"path": record.source.path, "taken_from": record.text("path")}
    if record.votes or (prose and record.kind.voted):
        data["votes"] = vote_data(record.votes)
    if prose:
        data |= {"prose": record.prose, "digest": record.digest}

    return data


def _rejected_line(option: RejectedOption) -> str:
    if option.reason:
        return f"{option.option}: {option.reason}"

    return option.option


def retirement_data(retirement: Retirement | None) -> dict[str, object]:
    """Return for JSON that a record is closed; empty for one that is not."""
    if retirement is not None:
        return {"retired": retirement.as_data()}

    return {}


def with_retirement(retirement: Retirement | None, text: str) -> str:
    """Return a text about a record below a line that says that it is closed."""
    if retirement is not None:
        return f"{retirement}\n\n{text}"

    return text


_OWN_LINES = frozenset(
    ("id", "title", "status", "date", "tasks", "feature", "category", "path", "labels")
)
"""Fields that `record_text` gives a line or a place of their own."""


def _plain_text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))

    return str(value)


def _review(record: Record) -> str:
    approval = record.approval
    parts = [f"suggested by {approval['suggested_by']}"] if "suggested_by" in approval else []
    for verdict in ("approved", "rejected"):
        if f"{verdict}_by" in approval:
            parts.append(
                f"{verdict} by {approval[f'{verdict}_by']} on "
                f"{approval.get(f'{verdict}_at', '')[:10]}"
            )

    if "reason" in approval:
        parts.append(f"because {approval['reason']}")
    if "retired_by" in approval:
        day = approval.get("retired_at", "")[:10]
        parts.append(f"{record.status.name} by {approval['retired_by']} on {day}")
    if "retired_reason" in approval:
        parts.append(f"because {approval['retired_reason']}")

    return "; ".join(parts)


def status_line(status: Status) -> str:
    """Return a status and what it means, without its name twice: `proposed: not yet decided`."""
    name, banner = status.name, status.banner or ""
    if banner.startswith(name.capitalize()):
        return name + banner[len(name) :]
    if banner:
        return f"{name}: {banner}"

    return name


def amendments(record: Record, records: Iterable[Record]) -> str:
    """Return which live records amend a record, each with its reason if it states one."""
    names = {record.id, *record.legacy_ids}
    amending = []
    for other in records:
        for link in other.links:
            if link.rel == "amends" and link.to in names and other.phase == "live":
                amending.append(f"{other.id} ({link.reason})" if link.reason else other.id)

    return ", ".join(amending)


def record_text(
    record: Record,
    freshness: Freshness,
    outcome: str = "",
    visibility: Visibility | None = None,
    due: Due | None = None,
    amended_by: str = "",
    built: Built | None = None,
) -> str:
    """Return a record as text: head, facts, prose; `outcome` is printed after its votes."""
    facts = [*_own_facts(record), *_scope_facts(record), *_tie_facts(record, amended_by)]
    if record.votes or record.kind.voted:
        facts.append(("votes", _vote_words(record.votes)))

    facts.append(("outcome", outcome))
    facts += _column(freshness.state.value, [reason.message for reason in freshness.reasons])
    facts.append(("due", "" if due is None else str(due)))
    facts += _term_facts(record)
    facts += _column("agents", () if visibility is None else visibility.lines())
    facts += _column("in the code", () if built is None else built.lines())
    created = f"created {record.text('created_at')}"
    if source := record.text(CREATED_FROM):
        created += f", by the {source} of its document, which states no day"

    facts.append(("updated", f"{record.text('updated_at')} ({created})"))

    head = f"{record.id}  {record.title}\n{status_line(record.status)}\n"
    blocks: list[Block] = [head, Facts(facts)]
    if record.prose.strip():
        blocks += ["", record.prose.strip("\n")]

    return rendered(blocks)


Pairs = Iterator[tuple[str, str]]


def _own_facts(record: Record) -> Pairs:
    """Yield where a record is, the columns of its kind, and who made it."""
    yield "file", record.path
    yield "document", record.source.path if record.source else ""
    for name in record.kind.columns:
        if name in record.data and name not in _OWN_LINES | {record.kind.headline}:
            yield name, _plain_text(record.data[name])

    yield "review", _review(record)
    if record.kind.headline != "summary":
        yield "summary", record.text("summary") or ""
    for name, value in _references(record):
        yield name, ":".join(map(str, value.values()))

    for name in ("date", "deciders", "tasks", "feature", "category"):
        yield name, _plain_text(record.data.get(name) or "")


def _scope_facts(record: Record) -> Pairs:
    """Yield what a record is about."""
    scope = record.scope
    for name, words in (("paths", scope.paths), ("uses", scope.uses), ("tags", scope.tags)):
        yield name, ", ".join(words)

    yield "labels", ", ".join(record.words("labels"))
    yield from _column("rejected", map(_rejected_line, record.rejected))
    yield "evidence", ", ".join(f"{kind}:{reference}" for kind, reference in record.evidence)


def _tie_facts(record: Record, amended_by: str) -> Pairs:
    """Yield how a record is linked with others."""
    links = []
    for link in record.links:
        reason = f" ({link.reason})" if link.reason else ""
        links.append(f"{link.rel} {link.to}{reason}")

    yield "links", ", ".join(links)
    yield "amended by", amended_by
    yield "supersedes", ", ".join(record.supersedes)
    yield "superseded by", ", ".join(record.superseded_by)
    yield "legacy ids", ", ".join(record.legacy_ids)


def _term_facts(record: Record) -> Pairs:
    """Yield until when a record holds."""
    end = expires_at(record) if record.phase == "live" else None
    yield "review by", record.review_terms.by
    yield "revisit when", ", ".join(map(str, record.review_terms.when))
    yield "digest", record.digest if record.phase == "pending" else ""
    yield "holds until", f"{end:%Y-%m-%d}" if end else ""


def _column(name: str, lines: Iterable[str]) -> Pairs:
    """Yield lines of one fact; the first has its name."""
    for number, line in enumerate(lines):
        yield "" if number else name, line


def named_chunk(record: Record, name: str) -> Chunk:
    """Return a record's chunk by its code, or by the anchor of its section."""
    from orbit_registry.search.chunks import chunks_of  # few ask for a chunk

    by_name: dict[str, Chunk] = {}
    chunks = chunks_of(record)
    for chunk in chunks:
        by_name |= dict.fromkeys(chunk.anchors, chunk)
    for chunk in chunks:
        by_name[chunk.code] = chunk

    if name.lower() in by_name:
        return by_name[name.lower()]

    from difflib import get_close_matches  # most names are right

    near = get_close_matches(name.lower(), by_name, n=NEAR)
    near = near or [chunk.code for chunk in chunks[:NEAR]]
    places = []
    for other in near:
        breadcrumb = by_name[other].breadcrumb
        places.append(f"{record.id}#{other}{f' ({breadcrumb})' if breadcrumb else ''}")

    hint = "this record has no chunks; leave out what follows `#`"
    if near:
        hint = f"did you mean {' or '.join(places)}?"
    raise RecordNotFoundError(f"{record.id} has no chunk {name!r}", hint=hint)


def chunk_data(record: Record, chunk: Chunk, freshness: Freshness) -> dict[str, object]:
    """Return one chunk of a record as JSON data."""
    return {
        "id": record.id,
        "kind": record.kind.name,
        "title": record.title,
        "status": record.status.name,
        "chunk": chunk_place(chunk),
        "path": record.source.path if record.source is not None else record.path,
        "prose": chunk.body,
        "freshness_state": None if record.phase == "closed" else freshness.state.value,
        "freshness_reasons": reasons_data(freshness),
    }


def chunk_place(chunk: Chunk) -> dict[str, object]:
    """Return a chunk's code and lines as JSON data."""
    return {
        "code": chunk.code,
        "breadcrumb": chunk.breadcrumb,
        "lines": [chunk.first_line, chunk.last_line],
    }


def chunk_head(record: Record, chunk: Chunk, freshness: Freshness) -> str:
    """Return the lines above a chunk's text: its place, and its record's status and freshness."""
    status, path = record.status, record.source.path if record.source is not None else record.path
    return "\n".join(
        [
            f"{record.id}#{chunk.code}  {chunk.breadcrumb or record.title}",
            status_line(status),
            *(f"{freshness.state.value}: {reason.message}" for reason in freshness.reasons),
            f"{path}:{chunk.first_line}-{chunk.last_line}",
        ]
    )


def details_text(record: Record) -> str:
    """Return the kind's multi-line fields, such as a proposal's diff, each below its name."""
    parts = [f"{name.replace('_', ' ').capitalize()}\n\n{text}" for name, text in _details(record)]
    return "".join(f"\n\n{part}" for part in parts)


_ON_LINES = frozenset(
    {"links", "evidence", "labels", "tasks", "deciders", "rejected", "revisit_when"}
)
"""Lists that `record_text` puts on a line."""


def _details(record: Record) -> Iterator[tuple[str, str]]:
    for name in record.kind.schema.properties:
        if name in _ON_LINES:
            continue

        value = record.data.get(name)
        if isinstance(value, str) and "\n" in value and name != record.kind.prose:
            yield name, "\n".join(f"  {line}".rstrip() for line in value.rstrip("\n").split("\n"))
        elif isinstance(value, list) and any(
            isinstance(entry, Mapping) or " " in str(entry) for entry in value
        ):
            line = _check_line if name == "checks" else _item
            yield name, "\n".join(f"- {line(entry)}" for entry in value)


def _check_line(check: Mapping[str, object]) -> str:
    text = f"{check['id']} ({check.get('level', 'advice')})"
    if "say" in check:
        return f"{text}: {check['say']}"

    return text


def _item(value: object) -> str:
    if not isinstance(value, Mapping):
        return " ".join(str(value).split())

    parts = []
    for name, part in value.items():
        is_reference = isinstance(part, Mapping)
        parts.append(
            ":".join(map(str, part.values())) if is_reference else f"{name} {_plain_text(part)}"
        )

    return ", ".join(parts)


def _references(record: Record) -> list[tuple[str, Mapping[str, object]]]:
    fields = ((name, record.data.get(name)) for name in record.kind.schema.properties)
    return [
        (name, value)
        for name, value in fields
        if isinstance(value, Mapping) and {"type", "id"} <= {*value}
    ]


def head_data(record: Record) -> dict[str, object]:
    """Return what a list says of a record."""
    return {
        "id": record.id,
        "kind": record.kind.name,
        "status": record.status.name,
        "phase": record.phase,
        "title": record.title,
        "path": record.path,
    }


MOST_LINES = 20  # so many citing lines, and so many names that no record has, are listed in text


def related_data(related: Related) -> dict[str, object]:
    """Return related records as JSON data."""
    reached = []
    for neighbour in related.reached:
        ties = [tie.as_data() for tie in neighbour.ties]
        reached.append({**head_data(neighbour.record), "depth": neighbour.depth, "links": ties})

    dangling = [{"rel": rel, "to": to, "derived": derived} for rel, to, derived in related.dangling]
    cited = [{"path": path, "line": line} for path, line in related.cited_in]
    return {"id": related.record.id, "related": reached, "dangling": dangling, "cited_in": cited}


def related_text(related: Related) -> str:
    """Return related records as text: a table, dangling links, then citing lines."""
    deep = any(neighbour.depth > 1 for neighbour in related.reached)
    rows = []
    for neighbour in related.reached:
        record = neighbour.record
        row = [neighbour.links(), record.id, record.status.name, record.title]
        by = ", ".join(dict.fromkeys(tie.start for tie in neighbour.ties))
        if deep:
            row.insert(0, by if neighbour.depth > 1 else "")
        rows.append(row)

    head = ["is", "id", "status", "title"]
    if deep:
        head.insert(0, "from")

    lines = [table(head, rows)] if rows else []
    for neighbour in related.reached:
        for others in dict.fromkeys(tie.others for tie in neighbour.ties if tie.others):
            listed = ", ".join(f"{other} ({', '.join(versions)})" for other, versions in others)
            versions_here = ", ".join(neighbour.record.words("versions"))
            lines.append(
                f"{neighbour.record.id} is for {versions_here}; of the same file: {listed}"
            )

    dangling = [f"leads to no record, or to several: {rel} {to}" for rel, to, _ in related.dangling]
    cited = [f"cited in {path}:{line}" for path, line in related.cited_in]
    lines += [*dangling[:MOST_LINES], *cited[:MOST_LINES]]
    more = len(dangling[MOST_LINES:]) + len(cited[MOST_LINES:])
    if more:
        lines.append(f"and {more} more: `--format json` lists them")

    return "\n".join(lines) or f"{related.record.id} is related to no other record"


def unread_text(problems: Iterable[Diagnostic]) -> str:
    """Return the number of such files, the first one and its problem, in words;
    "" if there are none.
    """
    first = {problem.location.path: problem for problem in problems if hides_record(problem)}
    if not first:
        return ""

    if len(first) == 1:
        count = "1 record could not be read"
    else:
        count = f"{len(first):,} records could not be read, the first"

    problem = first[min(first)]
    return f"{count}: {problem.location}: {escaped_line(problem.message)}"
