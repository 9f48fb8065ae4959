"""Which records go into the rule files of an agent, and under which globs; it renders nothing and writes no file.

A record goes there if it is in force, pushed, and has globs; `push.select` says whether a path alone may lead to it.
A glob that an agent would read as something else is not exported: it is reported, with the file that shows it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from orbit_registry.formats.globs import Alternative, Glob, GlobIndex, parse_glob
from orbit_registry.hook.caps import tokens
from orbit_registry.hook.context import FRAME_TOKENS, TOKENS
from orbit_registry.hook.index import BROAD, GLOBS, ID, Index, Row
from orbit_registry.hook.pack import SYMBOL
from orbit_registry.hook.select import standing_reason
from orbit_registry.matching.personal import is_personal

EVERYTHING = "**"
PROJECT = "project"
"""The name of the rule that is always loaded: no other rule can have it, theirs end in a hash."""
_SPECIAL = re.compile(r"[*?[{]")
_APART = re.compile(r"[^a-z0-9]+")
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Unsayable:
    """Why a language of globs has no word for one of ours."""

    reason: str


@dataclass(frozen=True, slots=True)
class Language:
    """How an agent reads globs.

    `say` gives one without braces in its spelling. `wider` gives, in our spelling, whatever else the agent may take it
    for: the glob is only exported if no tracked file makes a difference.
    """

    say: Callable[[Alternative], str | Unsayable]
    wider: Callable[[Alternative], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One file: its name, the globs in the agent's spelling (none: always loaded), records in rank order.

    `omitted` counts those that the budget left no room for.
    """

    name: str
    globs: tuple[str, ...]
    rows: tuple[Row, ...]
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class Unsaid:
    """A glob of a record that is not exported, and why."""

    id: str
    glob: str
    reason: str

    def as_data(self) -> dict[str, str]:
        """Return it as JSON shows it."""
        return {"id": self.id, "glob": self.glob, "reason": self.reason}


def exported(index: Index, now: float) -> list[Row]:
    """Return the project's records that rule files may hold, in rank order; `now` is in seconds since 1970."""
    found = []
    for number in range(index.pushed):
        row = index.row(number)
        if row is not None and row.words(GLOBS) and not is_personal(row) and not standing_reason(row, now):
            found.append(row)
    return found


def rules_for(
    index: Index, rows: Sequence[Row], language: Language, files: Iterable[str]
) -> tuple[list[Rule], list[Unsaid]]:
    """Return one rule for each distinct scope, by name, and the globs that could not be said.

    `files` are the tracked ones, on which another reading of a glob would show.
    """
    scopes = [(row, [(text, _parsed(text)) for text in row.words(GLOBS)]) for row in rows]
    strays = _strays([glob for _, globs in scopes for _, glob in globs], language, files)
    grouped: dict[tuple[str, ...], list[Row]] = {}
    unsaid: list[Unsaid] = []
    for row, globs in scopes:
        if row.flags & BROAD or _is_everything([glob for _, glob in globs]):
            grouped.setdefault((), []).append(row)
            continue
        said: list[str] = []
        excluded = False
        for text, glob in globs:
            found = _said(glob, language, strays)
            if isinstance(found, Unsayable):
                unsaid.append(Unsaid(row.values[ID], as_written(text), found.reason))
                excluded = excluded or glob.exclude
            else:
                said += found
        if said and not excluded:  # without what it excludes a scope would be a wider one
            grouped.setdefault(tuple(sorted(set(said))), []).append(row)
    return [_rule(globs, held) for globs, held in sorted(grouped.items())], unsaid


def _is_everything(globs: Sequence[Glob]) -> bool:
    return not any(glob.exclude for glob in globs) and any(
        alternative.text == EVERYTHING for glob in globs for alternative in glob.alternatives
    )


def visible(text: str) -> bool:
    """Say whether a glob has only characters that people can see: others have no place in front matter."""
    return _UNSEEN.search(text) is None


def plain(alternative: Alternative) -> str:
    """Return a glob without our spelling of an exclamation mark at its start."""
    return "!" + alternative.text[3:] if alternative.text.startswith("{!}") else alternative.text


def as_written(text: str) -> str:
    """Return a glob as its record has it: a symbol without our mark before it."""
    return text.removeprefix(SYMBOL)


def _parsed(text: str) -> Glob:
    """Return a glob of the index; a symbol is the one path that it names."""
    if text.startswith(SYMBOL):
        text = _SPECIAL.sub(r"[\g<0>]", text.removeprefix(SYMBOL).partition("::")[0])
    glob = parse_glob(text)
    # The index holds no glob that can't be read; one that stands for nothing matches nothing.
    return glob if isinstance(glob, Glob) else Glob(text, False, ())


def _said(glob: Glob, language: Language, strays: dict[str, str]) -> list[str] | Unsayable:
    if glob.exclude:
        return Unsayable("globs that exclude can't be said there: the record is left out")
    said = []
    for alternative in glob.alternatives:
        if alternative.text in strays:
            return Unsayable(f"it would be loaded for {strays[alternative.text]} too")
        found = language.say(alternative) if visible(alternative.text) else Unsayable("it has unseen characters")
        if isinstance(found, Unsayable):
            return found
        said.append(found)
    return said


def _strays(globs: Iterable[Glob], language: Language, files: Iterable[str]) -> dict[str, str]:
    """Return the globs without braces that an agent would take to match a tracked file which they don't: that file."""
    asked = {one.text: one for glob in globs if not glob.exclude for one in glob.alternatives}
    scopes = []
    for text, alternative in asked.items():
        wider = [glob for said in language.wider(alternative) if isinstance(glob := parse_glob(said), Glob)]
        if wider:
            scopes.append((text, wider))
    index = GlobIndex(scopes)
    found: dict[str, str] = {}
    for file in sorted(files) if scopes else ():
        for text, _ in index.match(file):
            if text not in found and not asked[text].matches(file):
                found[text] = file
    return found


def _rule(globs: tuple[str, ...], rows: Sequence[Row]) -> Rule:
    """Return a rule with as many records as fit into one reply of a hook."""
    left = TOKENS - FRAME_TOKENS
    held: list[Row] = []
    for row in rows:
        cost = tokens(row.teaser) + 1
        if cost <= left:
            held.append(row)
            left -= cost
    return Rule(_name(globs), globs, tuple(held), len(rows) - len(held))


def _name(globs: Sequence[str]) -> str:
    """Return the name of the file for a scope: words of its first glob for people, a hash of all for the rest."""
    if not globs:
        return PROJECT
    words = _APART.sub("-", globs[0].lower()).strip("-")[:40].strip("-")
    mark = hashlib.sha256("\n".join(globs).encode()).hexdigest()[:8]
    return f"{words}-{mark}" if words else mark
