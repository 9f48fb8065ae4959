"""Metadata in front matter: what each of its fields states."""

from collections.abc import Iterator
from difflib import get_close_matches

from orbit_registry.formats.adr.front_matter import Data, Field, name_in, scalar
from orbit_registry.formats.adr.header import Header, Style
from orbit_registry.formats.adr.model import OTHER_KEY, RELS, Fact
from orbit_registry.formats.adr.patterns import pattern
from orbit_registry.formats.adr.status_line import normalise_status, read_statement
from orbit_registry.formats.adr.vocabulary import field_of
from orbit_registry.formats.globs import Glob, parse_glob
from orbit_registry.formats.position import Span
from orbit_registry.formats.untrusted import first_hidden

_NAMES_DECISION = pattern("names_decision")
_MOST_PATHS, _LONGEST_PATH = 200, 500  # limits of a record's scope


def _read_front_matter(header: Header) -> Iterator[Fact]:
    if header.in_log:
        return

    yield from _stage_status(header)

    for field in header.fields:
        name = field.key.lower()
        key = field_of(field.key)
        if name in ("links", "relations"):
            yield from _typed_links(field)
        elif name == "affects":
            globs, refused = _affected_paths(field.data)
            yield Fact("paths", field.value, field.span, "front-matter", tuple(globs))
            yield Fact("refused_paths", field.value, field.span, "front-matter", tuple(refused))
        elif key == "status":
            yield from _status_value(header.text, field)
        elif key is not None:
            yield _front_fact(key, field)
        elif names := tuple(filter(_NAMES_DECISION.fullmatch, field.values)):
            yield Fact(OTHER_KEY, field.key, field.span, "front-matter", names, is_list=True)


def _front_fact(key: str, field: Field) -> Fact:
    # What `path` begins is a condition here, and no file that a record is about.
    values = field.pairs if key == "revisit_when" else field.values
    if key in RELS and isinstance(field.data, dict):  # `supersedes: {ADR-1: the first}`
        keys = tuple(filter(_NAMES_DECISION.fullmatch, field.data))
        values = keys or values

    return Fact(key, field.value, field.span, "front-matter", values, field.is_list)


def _stage_status(header: Header) -> Iterator[Fact]:
    """Yield the status in `stage:` if no other key states one: `stage: released`, but not `stage:
    production`.
    """
    if any(field_of(field.key) == "status" for field in header.fields):
        return
    for field in header.fields:
        if field.key.lower() == "stage" and normalise_status(field.value)[0] != "unknown":
            yield from _status_value(header.text, field)


def _status_value(text: str, field: Field) -> Iterator[Fact]:
    """Yield the status as the whole value, so that its quotes can change,
    and the other facts in it.
    """
    facts = list(read_statement(field.value, Span(0, len(field.value)), "front-matter"))
    span = field.alone or field.span
    yield Fact("status", facts[0].raw, span, "front-matter", (field.value, span.of(text)))
    yield Fact("statement", field.value, field.span, "front-matter")

    for fact in facts:
        if fact.key in ("tasks", "legacy_ids"):
            yield Fact(fact.key, fact.raw, field.span, "front-matter", fact.values)
        elif fact.key in ("date", "status_date"):
            yield Fact("status_date", fact.raw, field.span, "front-matter")


def _affected_paths(data: Data) -> tuple[list[str], list[str]]:
    """Return the globs of `affects: [{type: path, pattern: "src/**"}]`, and what is none;
    other types name no files.
    """
    items = data if isinstance(data, list) else [data]
    globs: list[str] = []
    refused: list[str] = []
    for item in items:
        if not item:
            continue

        kind, pattern = None, item
        if isinstance(item, dict):
            kind, pattern = item.get("type"), item.get("pattern", "")

        if (
            kind == "path"
            and isinstance(pattern, str)
            and len(globs) < _MOST_PATHS
            and _is_path_glob(pattern)
        ):
            globs.append(pattern)
        elif kind is None or kind == "path" or get_close_matches(str(kind), ["path"]):
            refused.append(str(pattern))

    selects = any(not glob.startswith("!") for glob in globs)
    if selects:
        return (globs, refused)

    return ([], [*globs, *refused])


def _is_path_glob(text: str) -> bool:
    is_short = len(text) <= _LONGEST_PATH and first_hidden(text) is None
    return is_short and isinstance(parse_glob(text), Glob)


def _typed_links(field: Field) -> Iterator[Fact]:
    """Yield a fact for each of `links: [{target: 2, kind: supersedes}]`, named after its kind, of
    `{supersedes: [2]}`, and of `[ADR-0002]`.
    """
    items = field.data if isinstance(field.data, list) else [field.data]
    for index, item in enumerate(items):
        span = field.places[index] if field.places else field.span
        for kind, target in _links_of(item):
            key = field_of(kind) or "related_to"
            yield Fact(key, target, span, "front-matter", (target,), is_list=True)


def _links_of(item: Data) -> Iterator[tuple[str, str]]:
    """Yield the kind and the target of each link in an item."""
    if not isinstance(item, dict):
        if isinstance(item, str) and _NAMES_DECISION.fullmatch(item):
            yield "references", item

        return

    kind = item.get("kind") or item.get("type")
    target = name_in({name: value for name, value in item.items() if name != "type"})
    if isinstance(kind, str) and target:
        yield kind, target
        return

    for name, value in item.items():
        targets = value if isinstance(value, list) else [value]
        texts = (text for text in targets if isinstance(text, str))
        yield from ((name, text) for text in filter(_NAMES_DECISION.fullmatch, texts))


def _render_scalar(fact: Fact, value: str) -> str:
    if fact.key != "status":
        length = fact.span.end - fact.span.start
        quote = '"' if length == len(fact.raw) + 2 else ""
        if length:
            return scalar(value, quote)

        return f" {scalar(value)}"

    old, as_written = fact.values
    result = scalar(value + _remainder(old, value), as_written)
    if as_written:
        return result

    return f" {result}"


def _remainder(old: str, value: str) -> str:
    """Return the rest of the old value after the status (`;
    supersedes ADR-0045`) that still holds.
    """
    facts = list(read_statement(old, Span(0, len(old)), "front-matter"))
    remainder = old[facts[0].span.end :]
    if not value.lower().startswith("super"):
        for fact in reversed([fact for fact in facts if fact.key == "superseding"]):
            shift = facts[0].span.end
            remainder = remainder[: fact.span.start - shift] + remainder[fact.span.end - shift :]

    return remainder


def _insert_key(header: Header, key: str, value: str) -> tuple[int, str] | None:
    span = header.document.front_matter
    if span is None or header.in_log:
        return None
    newline = "\r\n" if "\r\n" in header.text[: span.end + 5] else "\n"
    return span.end, f"{key}: {scalar(value)}{newline}"


FRONT_MATTER = Style("front-matter", _read_front_matter, _render_scalar, _insert_key)
