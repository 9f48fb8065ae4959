"""Forms of record ids, and the vocabulary of links between records."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from orbit_registry.errors import UsageError, did_you_mean
from orbit_registry.formats.citations import numbered_name

CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz"
SEQUENCE_WIDTH = 4
CODE_LENGTH = 5
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z")

INVERSES: Mapping[str, str] = {
    "supersedes": "superseded_by",
    "amends": "amended_by",
    "extends": "extended_by",
    "derived_from": "source_of",
    "has_script": "script_of",
    "has_doc": "doc_of",
    "proves": "proved_by",
    "contradicts": "contradicted_by",
    "overrides": "overridden_by",
    "related_to": "related_to",
    "implements": "implemented_by",
    "resolves": "resolved_by",
    "references": "referenced_by",
}
"""Each relation and its inverse. Supersession has its own fields."""
SUPERSEDES, OVERRIDES, RELATED = "supersedes", "overrides", "related_to"
DIRECTIONS = ("in", "out", "both")  # links to a record, links from it, or both


def new_uid() -> str:
    """Return a random uid: 32 hexadecimal digits."""
    return os.urandom(16).hex()


def code_id(prefix: str, uid: str, length: int = CODE_LENGTH) -> str:
    """Return the short code of a uid: `L-7k3fq`; `length` grows by one if the code is taken."""
    number = int(uid, 16)
    letters = []
    for _ in range(length):
        number, digit = divmod(number, len(CROCKFORD))
        letters.append(CROCKFORD[digit])

    return prefix + "".join(letters)


def sequence_id(prefix: str, number: int) -> str:
    """Return the id of a sequence number: `ADR-0042`, wider past 9999."""
    return f"{prefix}{number:0{SEQUENCE_WIDTH}d}"


def sequence_number(record_id: str, prefix: str) -> int | None:
    """Return the number in a sequence id, or None for another form."""
    name = numbered_name(record_id)
    if name is None or f"{name.word}-" != prefix or len(name.digits) < SEQUENCE_WIDTH:
        return None

    return name.number


def as_written_here(name: str) -> str:
    """Return a numbered name with the width that ids have here: `ADR-7` as `ADR-0007`."""
    parts = numbered_name(name)
    if parts is not None:
        return sequence_id(f"{parts.word}-", parts.number)

    return name


def is_safe_id(record_id: str) -> bool:
    """Say whether an id is a valid folder name on every system.

    It has no separator, leading dot or control character.
    """
    return _SAFE.match(record_id) is not None


def is_shown_id(text: str) -> bool:
    """Say whether a text is an id as people see it.

    That of an inherited record begins with the name of its source.
    """
    source, colon, record_id = text.rpartition(":")
    return is_safe_id(record_id) and (not colon or is_safe_id(source))


def natural_key(record_id: str) -> tuple[str, int, str]:
    """Return a sort key in human order: ADR-9999 before ADR-10000, codes by their letters."""
    name = numbered_name(record_id)
    if name is None:
        return (record_id.partition("-")[0] + "-", -1, record_id)

    return (f"{name.word}-", name.number, record_id)


@dataclass(frozen=True, slots=True, order=True)
class Link:
    """A link to another record, or to a name without a record."""

    rel: str
    to: str
    reason: str = field(default="", compare=False)


def relation(word: str) -> tuple[str, bool]:
    """Return the relation that a word names, and whether the word is its inverse (`amended_by`)."""
    name = word.strip().lower().replace("-", "_").replace(" ", "_")
    if name in INVERSES:
        return name, False

    inverted = next((rel for rel, inverse in INVERSES.items() if inverse == name), None)
    if inverted is not None:
        return inverted, True

    near = did_you_mean(name, [*INVERSES, *INVERSES.values()])
    if SUPERSEDES in near or INVERSES[SUPERSEDES] in near:
        near = "`orbit adr supersede OLD --with NEW` replaces a decision; "

    links = [rel for rel in INVERSES if rel != SUPERSEDES]
    raise UsageError(f"there is no relation {word!r}", hint=f"{near}relations: {', '.join(links)}")
