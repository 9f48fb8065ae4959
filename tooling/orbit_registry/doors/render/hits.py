"""Search results and similar records as JSON data and as text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from orbit_registry.doors.render.records import chunk_place
from orbit_registry.errors import plural
from orbit_registry.model.record import Record

if TYPE_CHECKING:
    from orbit_registry.checks.duplicates import Neighbour
    from orbit_registry.search.search import Hit, SearchResult

GENERIC = (
    "the text names nothing that a record could be about: put a word in quotes to look "
    "for it all the same"
)


def result_data(result: SearchResult, *, explain: bool = False) -> dict[str, object]:
    """Return a search result as JSON data, the best hit first."""
    data: dict[str, object] = {
        "hits": [_hit_data(hit, explain=explain) for hit in result.hits],
        "omitted": result.omitted,
        "unknown": list(result.unknown),
        "budget": result.budget,
    }
    if result.corrected:
        data["corrected"] = dict(result.corrected)
    if result.retired:
        data["retired"] = [retirement.as_data() for retirement in result.retired]

    notes = [GENERIC if result.generic else "", result.note]
    if any(notes):
        data["note"] = "; ".join(filter(None, notes))

    return data


def _hit_data(hit: Hit, *, explain: bool = False) -> dict[str, object]:
    record = hit.record
    data: dict[str, object] = {
        "id": record.id,
        "score": round(hit.score, 4),
        "title": record.title,
        "kind": record.kind.name,
        "versions": list(record.words("versions")),
        "snippet": hit.snippet,
        "matched": list(hit.matched),
    }
    if hit.retired is not None:
        data["retired"] = hit.retired.as_data()
    if hit.chunk is not None:
        data["chunk"] = chunk_place(hit.chunk)

    if explain:
        data["parts"] = {
            "text": round(hit.parts.text, 4),
            "version": hit.parts.version,
            "context": round(hit.parts.context, 4),
            "via": hit.parts.via or None,
        }

    return data


def result_text(result: SearchResult, *, explain: bool = False) -> str:
    """Return a search result as text, grouped by kind; the best match is the first line."""
    retired = list(map(str, result.retired))
    if not result.hits:
        return "\n".join([*retired, "nothing found"])

    for word, right in result.corrected.items():
        retired.append(f"no record has {word!r}: searched for {right!r}")

    groups: defaultdict[str, list[Hit]] = defaultdict(list)
    for hit in result.hits:
        groups[_group(hit.record)].append(hit)

    lines: list[str] = []
    for group, hits in groups.items():
        if len(groups) > 1:
            lines += ["", group] if lines else [group]
        for hit in hits:
            lines += _lines(hit, explain=explain, is_said=hit.retired in result.retired)

    if result.omitted:
        lines.append(f"and {plural(result.omitted, 'more hit')}: --limit shows them")

    return "\n".join([*retired, *lines])


def _group(record: Record) -> str:
    kind = record.kind
    for name in kind.places:
        return f"{str(record.text(name)).capitalize()}s ({kind.labels.lower()})"

    return kind.labels


def _lines(hit: Hit, *, explain: bool, is_said: bool) -> Iterable[str]:
    record = hit.record
    yield f"{hit.score:.2f}  {hit.name}  {record.title}"

    if hit.retired is not None and not is_said:
        yield f"      {hit.retired}"

    if hit.chunk is not None:
        where = f"{record.source.path}:" if record.source is not None else "line "
        yield (
            f"      {where}{hit.chunk.first_line}-{hit.chunk.last_line}  {hit.chunk.breadcrumb}"
        ).rstrip()

    if hit.snippet != record.title:
        yield f"      {hit.snippet}"

    if explain:
        parts = hit.parts
        reasons = [f"has {', '.join(hit.matched)}"] if hit.matched else []
        if parts.via:
            reasons.append(f"by {parts.via}")
        factors = f"text {parts.text:.3f} × version {parts.version:g} × context {parts.context:g}"
        yield f"      = {factors} ({'; '.join(reasons)})"


MOST_NAMED = 5  # so many are named in text


def neighbours_data(near: Sequence[Neighbour]) -> list[dict[str, object]]:
    """Return similar records as JSON data."""
    rows = []
    for neighbour in near:
        contrast = neighbour.contrast
        row: dict[str, object] = {
            "id": neighbour.record.id,
            "score": round(neighbour.score, 4),
            "title": neighbour.record.title,
            "difference": None if contrast is None else str(contrast),
        }
        if neighbour.rejection:
            row["rejected"] = neighbour.rejection
        rows.append(row)

    return rows


def near_text(neighbour: Neighbour) -> str:
    """Return a similar record as one line."""
    reasons = "; ".join(filter(None, (neighbour.words, neighbour.rejection)))
    return f"{neighbour.record.id} ({reasons}): {neighbour.record.title}"


def near_lines(near: Sequence[Neighbour]) -> list[str]:
    """Return the lines that name the most similar records below an answer."""
    return [f"near: {near_text(neighbour)}" for neighbour in near[:MOST_NAMED]]


def duplicate_message(neighbour: Neighbour) -> str:
    """Return why a duplicate is refused."""
    if neighbour.rejection:
        return (
            f"this was {neighbour.rejection} ({neighbour.record.id}, {neighbour.words}: "
            f"{neighbour.record.title})"
        )
    return f"this is known already: {near_text(neighbour)}"


def override_hint(neighbour: Neighbour, option: str) -> str:
    """Return how to write it anyway; `option` states that the two differ."""
    if neighbour.rejection and neighbour.is_exact:
        return (
            "what was turned down is not proposed again in the same words: say what is "
            "different now"
        )
    return f"if the two differ, {option}"


def show_commands(near: Sequence[Neighbour]) -> list[str]:
    """Return the commands that show the most similar records."""
    return [f"orbit show {neighbour.record.id}" for neighbour in near[:MOST_NAMED]]
