"""The texts that a record is found by, and what their words count.

What a text counts depends on that text alone, so the cache keeps it: after an edit only the record
that changed is counted again.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import cache
from itertools import starmap
from typing import TYPE_CHECKING, NamedTuple

from orbit_registry.formats.secrets import may_hold_secret, without_secrets
from orbit_registry.model.record import Record
from orbit_registry.model.schema import shared_fields
from orbit_registry.repository.documents import is_prompt, prompts_of
from orbit_registry.search.text import (
    joined_names,
    name_of,
    pieces,
    stem,
    words,
    words_of_piece,
)
from orbit_registry.workspace.cache import Cache

if TYPE_CHECKING:
    from orbit_registry.search.chunks import Chunk

WEIGHTS = 3, 3, 1  # of title, tags and body
_STATE = (
    "source date tasks feature status_raw confidence basis versions path file source_ref "
    "content_hash chunking review_by revisit_when reviewed_at"
)
START = 4_000
"""Characters of a field in which words in a row are counted: its start says what it is about."""
NO_TEXT = shared_fields() | frozenset(_STATE.split()) | {"type"}
"""Fields that are not read as text: identity, state and what has another weight."""

Fields = tuple[str, str, str]
Counts = Mapping[str, int]


class TextWords(NamedTuple):
    """What the words of one text count, whatever other texts there are."""

    counts: Counts
    """By term, in the order of the text."""
    forms: Sequence[str]
    """The words whose term is another one."""
    heads: str
    """The terms in a row at the start of its title and of its tags.

    Each has a blank on both sides, so that a reader counts two in a row as a part of the text.
    """
    body: str
    """Those at the start of its body."""
    names: Sequence[str] = ()
    """The identifiers of several parts that are no words of the text, as `name_of` spells them."""


def counts_of(fields: Fields) -> Counts:
    """Return what each word of a text without secrets counts.

    An identifier counts nothing: its parts do.
    """
    counts: dict[str, int] = {}
    names: dict[str, None] = {}
    for text, weight in zip(fields, WEIGHTS, strict=True):
        # Half of the pieces of a text are repeated: each comes apart once.
        parts = Counter(pieces(text))
        for piece, times in parts.items():
            for word in words_of_piece(piece):
                counts[word] = counts.get(word, 0) + times * weight

        mixed = [piece for piece in parts if not piece[1:].islower() or not piece.isalpha()]
        for piece in mixed:
            for name in joined_names(piece):
                counts[name] = counts.get(name, 0) + parts[piece] * weight

        names |= dict.fromkeys(map(name_of, mixed))

    for name in filter(None, names):
        counts.setdefault(name, 0)

    return counts


def _without_secrets(fields: Fields) -> Fields:
    if not may_hold_secret("\n".join(fields)):
        return fields

    title, tags, body = map(without_secrets, fields)
    return title, tags, body


def words_in(fields: Fields) -> TextWords:
    """Return what the words of a text count, without those of secrets."""
    return _words_in(_without_secrets(fields))


def _words_in(clean: Fields) -> TextWords:
    counts, forms, names = terms_of(clean)
    title, tags, body = [_run(text, counts) for text in clean]
    return TextWords(counts, forms, f"{title}\n{tags}", body, names)


def terms_of(fields: Fields) -> tuple[Counts, list[str], list[str]]:
    """Return what each term of a text without secrets counts, the words whose term is another one,
    and the names, as `TextWords` has them.
    """
    counts: dict[str, int] = {}
    forms: list[str] = []
    names: list[str] = []
    for word, count in counts_of(fields).items():
        if not count:
            names.append(word)
            continue

        term = stem(word)
        counts[term] = counts.get(term, 0) + count
        if term != word:
            forms.append(word)

    return counts, forms, names


def _run(text: str, terms: Counts) -> str:
    # The last word may be a part of one.
    start = words(text[:START])
    return "".join([f" {term} " for term in map(stem, start) if term in terms])


def words_of(
    records: Sequence[Record], cache: Cache | None, clean: Container[str] = ()
) -> list[list[TextWords]]:
    """Return what the words of records count: for each record, those of each of its texts.

    `cache` has those of records that did not change; `clean` are paths of records without secrets.
    """
    if cache is None:
        return [list(map(words_in, texts_of(record))) for record in records]

    by_path = {record.path: record for record in records}
    keys = {path: texts_key(record) for path, record in by_path.items()}

    def make(path: str) -> list[list[object]]:
        count = _words_in if path in clean else words_in
        return [list(count(text)) for text in texts_of(by_path[path])]

    # The words of secrets are left out.
    values = cache.values("plain words", keys, make, clean=keys)
    return [list(starmap(TextWords, values[record.path])) for record in records]


def texts_key(record: Record) -> str:
    """Return a hash of all that the texts of a record are made from."""
    parts = list(parts_of(record))
    if record.kind.in_file and record.source is not None:
        parts += [record.source.path, repr(record.data.get("chunking")), record.prose]

    lengths = " ".join(str(len(part)) for part in parts)
    text = "\0".join((lengths, *parts))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def texts_of(record: Record) -> list[Fields]:
    """Return the texts that a record is found by: its own, then those of its chunks.

    What a template asks for is no text of a record.
    """
    title, tags, body = parts_of(record)
    prompts = prompts_of(record.kind.folder, record.kind.in_document)
    lines = [line for line in body.split("\n") if not is_prompt(line, prompts)]
    texts = [(title, tags, "\n".join(lines))]
    for chunk in chunks(record):
        texts.append((chunk.breadcrumb, "", chunk.body))

    return texts


def parts_of(record: Record) -> Fields:
    """Return a record's title, its tags with labels, symbols and packages, and its text.

    A file's own text is not part of it.
    """
    scope = record.data.get("scope")
    if not isinstance(scope, Mapping):
        scope = {}

    tags: list[str] = []
    for axis in ("tags", "symbols", "uses"):
        tags += map(str, scope.get(axis, ()))

    tags += record.words("labels")

    # A file's own text is in its chunks.
    body = ["" if record.kind.in_file else record.prose]
    without = _without_text(record.kind.headline, record.kind.prose)
    for name, value in record.data.items():
        if name not in without:
            body += _texts(value)

    body.append(str(scope.get("semantic_seed") or ""))
    return record.title, "\n".join(tags), "\n".join(body)


@cache
def _without_text(headline: str, prose: str) -> frozenset[str]:
    return NO_TEXT | {headline, prose}


def chunks(record: Record) -> Sequence[Chunk]:
    """Return the chunks of a record whose prose is a whole file; there is none of another."""
    if not record.kind.in_file:
        return ()

    # Markdown's parser, which most searches do without.
    from orbit_registry.search.chunks import chunks_of

    return chunks_of(record)


def _texts(value: object) -> Iterable[str]:
    """Return a field that is a text, or the texts in a list."""
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list):
        return [text for text in value if isinstance(text, str)]

    return ()
