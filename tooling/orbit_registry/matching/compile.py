"""Rows of the push index, compiled from records."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType

from orbit_registry.formats.globs import Glob, parse_glob
from orbit_registry.formats.untrusted import inert_line
from orbit_registry.hook.context import ASKS_AT_STOP, CAPTURES, NOTES_TURNS
from orbit_registry.hook.forbidden_words import ANY_CASE, EXACT, GROUP
from orbit_registry.hook.select import compiled_pattern
from orbit_registry.lifecycle.record_checks import checks_of
from orbit_registry.lifecycle.review_due import Due, dated
from orbit_registry.matching.pack import SYMBOL, Part, plain_glob
from orbit_registry.matching.teaser import note_of, safe, teaser_of
from orbit_registry.model import fields
from orbit_registry.model.fields import LIST, MOVED
from orbit_registry.model.freshness import WINDOWS, expires_at, stale_at
from orbit_registry.model.rank import Order, microseconds, order_of, priority_of, vote_key
from orbit_registry.model.record import Record
from orbit_registry.model.scope import USES, files_by_package, symbol_glob, symbol_problem
from orbit_registry.model.votes import distinct_votes
from orbit_registry.operations.breadth import Breadth
from orbit_registry.operations.freshness.renames import PATHS, SYMBOLS, Move
from orbit_registry.operations.glob_counts import Count, Scope, count_matches
from orbit_registry.workspace.config import Config

_SEPARATORS = re.compile("[\x00-\x1f]")
_SAME = frozenset({"amends", "extends"})  # relations of records of which a brief shows one


@dataclass(frozen=True, slots=True)
class Origin:
    """State of a record's file: time (ns) and size, whether it is in the inbox,
    and why it may not be pushed.
    """

    mtime_ns: int = 0
    size: int = 0
    inbox: bool = False
    has_body: bool = False
    checksum: str = (
        ""  # of the bytes of its file, as the hook compares them; empty if they are not compared
    )
    cause: str = ""  # why it is out of date, but for its age
    is_trusted: bool = True
    label: str = ""  # what tells rows of this origin from others, for those who make them


def globs_of(record: Record, moves: Iterable[Move] = ()) -> list[str]:
    """Return the globs of a record's scope that can be read, its symbols and what it uses, both
    behind marks, and globs of the same files where git saw them move.
    """
    scope, marks = record.scope, (SYMBOL, USES)
    globs = [glob for glob in scope.paths if not glob.startswith(marks) and _is_readable(glob)]
    symbols = [symbol for symbol in scope.symbols if symbol_problem(symbol) is None]
    globs += [f"{SYMBOL}{_word(symbol)}" for symbol in symbols]
    globs += [f"{USES}{_word(name)}" for name in scope.uses]
    return globs + [glob for glob in map(_moved_glob, moves) if glob and _is_readable(glob)]


def _is_readable(glob: str) -> bool:
    return isinstance(parse_glob(plain_glob(glob)), Glob)


def _moved_glob(move: Move) -> str:
    """Return the glob that follows a move, with the record's own; empty for other fields."""
    if move.new is None or _SEPARATORS.search(f"{move.old}{move.new}"):
        return ""
    if move.field == SYMBOLS:
        return f"{MOVED}{symbol_glob(move.new)}{MOVED}{SYMBOL}{move.old}"
    if move.field != PATHS:
        return ""

    sign = "!" if move.new.startswith("!") else ""
    return f"{sign}{MOVED}{move.new.removeprefix('!')}{MOVED}{move.old}"


def part_of(
    record: Record,
    origin: Origin,
    half_life_days: float,
    windows: Mapping[str, int | None] = WINDOWS,
    rejected: Sequence[str] = (),
    moves: Sequence[Move] = (),
    due: Due | None = None,
) -> Part:
    """Return a record compiled; it is already free of secrets.

    `rejected` are its rejected options, compiled; `moves` are the files of its scope that moved.
    `due` says that a review of it is due already.
    """
    key = vote_key(record.votes, half_life_days)
    times = (expires_at(record), stale_at(record, windows))
    expiry, ages = (None if at is None else int(at.timestamp()) for at in times)
    globs = globs_of(record, moves)

    pushed = record.phase != "closed" and record.status.pushed and not origin.inbox
    cause = origin.cause if pushed else ""

    head = (
        record.id,
        record.kind.name,
        record.status.name,
        record.phase,
        record.path,
        str(origin.mtime_ns),
        str(origin.size),
        origin.label,
        teaser_of(record, origin.has_body),
        origin.checksum,
        record.kind.gate,
        category_of(record),
    )
    standing = (
        _number(expiry),
        str(priority_of(record)),
        _number(microseconds(record.text("updated_at"))),
        "" if key is None else repr(key),
        str(len(distinct_votes(record.votes))),
    )
    state = (
        record.text("project") or "",
        str(record.kind.place(record.data)),
        cause,
        _number(ages),
        compiled_pattern(record.text("error_pattern") or ""),
    )
    lists = [LIST.join(map(_word, words)) for words in _lists_of(record)]
    texts = (
        note_of(record) if pushed else "",
        LIST.join(globs),
        LIST.join(rejected),
        LIST.join(_forbidding(record)),
        LIST.join(_enforcing(record)),
        _review(record, due),
    )

    flags = fields.EXCLUDES if any(glob.startswith("!") for glob in globs) else 0
    flags |= fields.EXPIRES if expiry is not None else 0
    flags |= fields.DOUBTED if cause or ages is not None else 0
    flags |= 0 if origin.is_trusted else fields.UNTRUSTED
    flags |= fields.PROCEDURAL if record.data.get("procedural") is True else 0

    cleaned = tuple(
        field if position >= fields.AGENTS or position == fields.TEASER else _word(field)
        for position, field in enumerate((*head, *standing, *state, *lists, *texts))
    )
    return Part(cleaned, flags, pushed)


def _lists_of(record: Record) -> Iterator[Sequence[str]]:
    """Yield the fields of a record that are lists, as rows have them."""
    yield record.scope.agents
    yield record.scope.tasks
    yield record.words("contexts")
    yield record.words("anti_contexts")
    yield record.scope.tags
    yield [link.to for link in record.links]

    same = [*record.supersedes, *(link.to for link in record.links if link.rel in _SAME)]
    if record.text("path") and "versions" in record.data:
        same.append(f"/{record.text('path')}")
    yield same


def _review(record: Record, due: Due | None) -> str:
    """Return when a review is due, in seconds since 1970, and the date in the words of the record.

    Who reads the index compares a date to come.
    """
    if due is not None:
        return f"0 {due.since}"

    date_to_review = dated(record)
    if date_to_review is None:
        return ""

    day, text = date_to_review
    start = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return f"{int(start.timestamp())} {text}"


def _forbidding(record: Record) -> Iterable[str]:
    """Yield the checks of a record that forbid words:
    name, where they count, what to do, globs, words.
    """
    if record.phase != "live":
        return

    for check in checks_of([record]):
        if check.forbidden is None:
            continue

        where = check.forbidden.where
        if check.forbidden.in_any_case:
            words = [ANY_CASE + word.casefold() for word in check.forbidden.words]
        else:
            words = [EXACT + word for word in check.forbidden.words]

        globs = [
            f"!{glob.text.removeprefix('!')}" if glob.exclude else glob.text for glob in check.globs
        ]
        texts = [word for word in words if inert_line(word) == word]  # it is shown to agents
        yield fields.PHRASES.join([check.id, where, safe(check.say), GROUP.join(globs), *texts])


def _enforcing(record: Record) -> list[str]:
    """Return the names of a record's checks that fail a build."""
    checks = record.data.get("checks")
    if record.phase != "live" or not isinstance(checks, list):
        return []

    return [
        safe(f"{record.id}/{check.get('id')}")
        for check in checks
        if isinstance(check, dict) and check.get("level") == "error"
    ]


def settings_of(config: Config) -> int:
    """Return the settings that the hook needs, as the index holds them."""
    names = {
        ASKS_AT_STOP: ("loop", "ask_at_stop"),
        NOTES_TURNS: ("loop", "note_turns"),
        CAPTURES: ("capture", "at_session_end"),
    }
    return sum(bit for bit, name in names.items() if config.setting(*name) is True)


def order_in(part: Part) -> tuple[bool, Order]:
    """Return what a part is sorted by: what is pushed comes first."""
    row = part.row
    key = float(row[fields.RANK]) if row[fields.RANK] else None
    updated = int(row[fields.UPDATED_AT]) if row[fields.UPDATED_AT] else None
    order = order_of(key, int(row[fields.PRIORITY]), updated, row[fields.ID], row[fields.PATH])
    return not part.pushed, order


def breadth_of(
    scopes: Iterable[Sequence[str]],
    files: Iterable[str],
    imported: Mapping[str, Sequence[str]] = MappingProxyType({}),
    count: Count = count_matches,
) -> Breadth:
    """Return how broad some scopes are, given as rows hold them and by the tracked files.

    `imported` are the packages and modules of scopes that each file imports; `count` says how many
    files each glob matches.
    """
    plain = (tuple(map(plain_glob, globs)) for globs in scopes)
    return Breadth.of(plain, files, files_by_package(imported), count)


def with_breadth(parts: Iterable[Part], breadth: Breadth) -> list[Part]:
    """Return parts, given in push order, with their wide globs and the flags of the broad ones."""
    ranked = list(parts)
    scopes = [_scope(part) for part in ranked]
    competing = [scope for scope, part in zip(scopes, ranked, strict=True) if part.pushed]
    withheld = [*breadth.withheld(competing), *([0] * (len(ranked) - len(competing)))]

    result = []
    for part, scope, files in zip(ranked, scopes, withheld, strict=True):
        globs = breadth.wide.get(scope, ())
        wide = frozenset(position for position, glob in enumerate(scope) if glob in globs)
        flags = part.flags | fields.BROAD if files else part.flags
        result.append(part._replace(flags=flags, wide=wide))

    return result


def _scope(part: Part) -> Scope:
    globs = part.row[fields.GLOBS]
    if globs:
        return tuple(map(plain_glob, globs.split(LIST)))

    return ()


def category_of(record: Record) -> str:
    """Return the category by which agents are briefed with a record; empty for none."""
    category = record.text("category")
    if category is not None:
        return category
    default = record.kind.schema.document["properties"].get("category", {}).get("default")
    if isinstance(default, str):
        return default

    return ""


def _number(value: int | None) -> str:
    if value is None:
        return ""

    return str(value)


def _word(text: str) -> str:
    return _SEPARATORS.sub(" ", text)
