"""Which kinds have an operation of the form `orbit KIND NAME`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orbit_registry.model.kind import Kind


def any_kind(_: Kind) -> bool:
    """Return that each kind has it."""
    return True


def in_record(kind: Kind) -> bool:
    """Return whether the text of a kind's records is a field of them."""
    return kind.in_record


def is_voted(kind: Kind) -> bool:
    """Return whether records of a kind have votes."""
    return kind.voted


def is_learning(kind: Kind) -> bool:
    """Return whether a kind is that of learnings."""
    return kind.name == "learning"


def is_numbered(kind: Kind) -> bool:
    """Return whether ids of a kind are numbers in sequence."""
    return kind.numbering == "sequence"


def is_superseded(kind: Kind) -> bool:
    """Return whether one record of a kind can replace another."""
    return "superseded" in kind.statuses


def has_verbs(kind: Kind) -> bool:
    """Return whether a kind names verbs that set a status."""
    return bool(kind.verbs)


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb of a kind: the status that it sets, and what it takes next to ids.

    `undecided` are the statuses whose records it takes all at once. It `is_hidden` where one
    command serves every kind, or another verb of the kind does the same.
    """

    name: str
    status: str
    is_live: bool
    is_closing: bool
    undecided: tuple[str, ...] = ()
    is_hidden: bool = False

    def takes(self, argument: str) -> bool:
        """Return whether its command takes an argument."""
        if argument == "of_status":
            return bool(self.undecided)

        return argument != "status" and (argument != "expect" or self.is_live)


def verbs_of(kind: Kind) -> Mapping[str, Verb]:
    """Return the verbs of a kind by name; a verb that every kind has comes before the kind's."""
    verbs: dict[str, Verb] = {}
    for name, status in kind.verbs.items():
        phase = kind.status(status).phase
        undecided = []
        for other in kind.statuses.values():
            if other.phase == "pending" and not other.waits and status in other.to:
                undecided.append(other.name)

        standard = kind.verb_of(status)
        at_once = tuple(undecided) if phase == "live" else ()
        for word in dict.fromkeys((standard, name)):
            is_hidden = word != standard or word in ("accept", "reject", "retire")
            verbs[word] = Verb(word, status, phase == "live", phase == "closed", at_once, is_hidden)

    return verbs
