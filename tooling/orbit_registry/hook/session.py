"""Log of the records that a session was shown, one id a line, and the caps that it sets.

Records are chosen and noted under one lock, so that parallel calls never show one record twice or
exceed a cap.
"""

import posix
from time import time

from orbit_registry.hook.context import Context, Match, Selection
from orbit_registry.hook.index import GONE, PRIME
from orbit_registry.hook.project import UPDATE, private_folder
from orbit_registry.model.fields import CATEGORY, KIND, PATH, PLACE, PROCEDURAL, SAME
from orbit_registry.model.reach import (
    BRIEF,
    CITED,
    FEW,
    FRAME_TOKENS,
    NAMED_TOKENS,
    PER_SESSION,
    PROCEDURAL_TOKENS,
    Via,
    is_anywhere,
    is_cited_only,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from orbit_registry.model.fields import Row

FOLDER = "sessions"
LONGEST_NAME = 60
LARGEST = 1 << 16  # bytes; a log holds twenty ids, so a larger file is no log, and is emptied
LONGEST_ID = 64
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")
_IDS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:")

LATE = "late"
"""Mark of a session that began without an index, until it was shown what it missed."""
FAILED, ASKED = "failed", "asked"
"""Marks of a session: a tool failed in it; the agent was asked for a note."""
NAMEABLE = ("call cap", "session cap", "token cap", "version")
"""Reasons of records that are named by title."""

# What the lines of a log begin with; an id has no such prefix.
_MARK = "="  # the time, in seconds since 1970, at which the ids were forgotten
_WORD = "-"  # a mark of the session
_NAMED = "+"  # an id whose title alone was shown
_MISSED, _MISSED_CODE = "@", "!"  # a path of a call without an index; of one that writes code
MOST_MISSED, LONGEST_MISSED = 20, 400  # such paths of a session, and bytes of one


def safe_name(name: str) -> str:
    """Return a file name for any text: the text itself if it is plain, else a hash."""
    if name and len(name) <= LONGEST_NAME and name[0] not in "-_" and _PLAIN.issuperset(name):
        return name
    content = name.encode("utf-8", "surrogatepass")
    return f"_{int.from_bytes(content, 'little') % PRIME:x}-{len(content):x}"


class SessionLog:
    """Records that one context of an agent was shown; a subagent has its own context."""

    def __init__(self, root: str, session: str, agent: str = "") -> None:
        """`session` and `agent` are ids as the agent's host states them."""
        self._root = root
        self.name = safe_name(session)
        if agent:
            self.name += f".{safe_name(agent)}"

        self.named: set[str] = set()  # ids of which the titles alone were shown, read by `begin`
        self.is_noting = False  # whether ids were or are just being noted as shown
        self._handle = -1
        self._torn = False

    def begin(self) -> list[str]:
        """Return the shown ids, and lock the log until `end`."""
        lines = [line for line in self._lines() if len(line) <= LONGEST_ID]
        self.named = {line[1:] for line in lines if line[0] == _NAMED}
        return [line for line in lines if line[0] not in "-_." and _IDS.issuperset(line)]

    def add(self, ids: list[str], titled: "Sequence[str]" = ()) -> None:
        """Note ids as shown, and those of which the titles were, in one write.

        It is called between `begin` and `end` only.
        """
        self.is_noting = True
        lines = [*ids, *(f"{_NAMED}{record_id}" for record_id in titled)]
        self._write("".join(f"{line}\n" for line in lines))

    def end(self) -> None:
        """Unlock the log."""
        if self._handle >= 0:
            posix.close(self._handle)
            self._handle = -1

    def is_begun(self) -> bool:
        """Say whether something was noted of the session; unlike the others it makes no file."""
        try:
            posix.stat(f"{private_folder(self._root, 'log', FOLDER)}/{self.name}")
        except OSError:
            return False

        return True

    def mark(self, word: str, only_after: str = "") -> bool:
        """Note a word once for the session, if `only_after` was noted; say whether it did."""
        try:
            lines = self._lines()
            is_ready = not only_after or f"{_WORD}{only_after}" in lines
            is_new = is_ready and f"{_WORD}{word}" not in lines
            if is_new:
                self._write(f"{_WORD}{word}\n")

            return is_new
        finally:
            self.end()

    def note_missed(self, paths: "Iterable[str]", *, writes_code: bool = False) -> None:
        """Note the paths of a call that found no index, as far as the session has room for them."""
        sign = _MISSED_CODE if writes_code else _MISSED
        words = dict.fromkeys(map(_as_word, paths))
        wanted = [f"{sign}{word}" for word in words if word]
        if not wanted:
            return

        try:
            noted = [line for line in self._lines() if _is_missed(line)]
            room = max(0, MOST_MISSED - len(noted))
            new = [line for line in wanted if line not in noted]
            if new[:room]:
                self._write("".join(f"{line}\n" for line in new[:room]))
        finally:
            self.end()

    def take_missed(self) -> tuple[bool, dict[str, bool]]:
        """Return, once, whether the session began without an index, and the paths of calls that
        found none, each with whether one of these calls was to write code.
        """
        try:
            lines = self._lines()
            late = f"{_WORD}{LATE}"
            is_late = late in lines
            missed = missed_in(lines)
            if is_late or missed:
                self._replace([line for line in lines if line != late and not _is_missed(line)])

            return is_late, missed
        finally:
            self.end()

    def forget(self, unless_within: float = 0) -> None:
        """Forget the shown ids after a compaction, but not what the session has missed.

        Hosts may announce one twice within `unless_within` seconds.
        """
        now = int(time())
        try:
            lines = self._lines()
            times = [line[1:] for line in lines if line[0] == _MARK]
            ages = (now - int(at) for at in times if at.isdigit())
            if unless_within and any(0 <= age < unless_within for age in ages):
                return

            remaining = [line for line in lines if line[0] == _WORD or _is_missed(line)]
            self._replace([f"{_MARK}{now}", *remaining])
        finally:
            self.end()

    def _lines(self) -> list[str]:
        folder = private_folder(self._root, "log", FOLDER)
        while True:
            self._handle = posix.open(f"{folder}/{self.name}", UPDATE | posix.O_APPEND, 0o600)
            posix.lockf(self._handle, posix.F_LOCK, 0)
            state = posix.fstat(self._handle)
            if state.st_nlink:
                break
            self.end()  # it was removed before it was locked

        if state.st_size > LARGEST:
            posix.ftruncate(self._handle, 0)

        content = posix.pread(self._handle, LARGEST, 0).decode("utf-8", "replace")
        self._torn = bool(content) and not content.endswith("\n")
        return content.split()

    def _replace(self, lines: "list[str]") -> None:
        posix.ftruncate(self._handle, 0)
        self._torn = False
        self._write("".join(f"{line}\n" for line in lines))

    def _write(self, text: str) -> None:
        if self._torn:
            text = f"\n{text}"

        content = text.encode()
        if posix.write(self._handle, content) != len(content):
            raise OSError("the disk took a part of it")


def missed_in(lines: "Iterable[str]") -> dict[str, bool]:
    """Return the paths of calls without an index among the lines of a log, each with whether one
    of these calls was to write code.
    """
    missed: dict[str, bool] = {}
    for line in filter(_is_missed, lines):
        path = line[1:].replace("%20", " ").replace("%25", "%")
        missed[path] = missed.get(path, False) or line[0] == _MISSED_CODE

    return missed


def _is_missed(line: str) -> bool:
    return line[0] in (_MISSED, _MISSED_CODE)


def _as_word(path: str) -> str:
    """Return a path as a word of a log; empty for one that is too long or no text in UTF-8."""
    word = path.replace("%", "%25").replace(" ", "%20")
    try:
        size = len(word.encode())
    except UnicodeEncodeError:  # half of a pair, which JSON can spell
        return ""

    if size > LONGEST_MISSED or word.split() != [word]:
        return ""

    return word


def apply_caps(
    context: Context,
    fitting: list[Match],
    linked: list[Match],
    drops: "list[tuple[Row, str]]",
    beyond: int,
    shown_ids: "Iterable[str]",
    named_ids: "Collection[str]",
    difference: "Callable[[Row], str]",
) -> Selection:
    """Return the first matches for which caps and budgets leave room.

    Others are named by title, once a session. A linked rule comes behind the first shown record
    that leads to it, and is left out without one.
    """
    if len(fitting) + len(linked) + beyond <= FEW:
        _add_notes([*fitting, *linked])

    reply = _Reply(context, shown_ids)
    capped: list[tuple[Match, str]] = []
    for match in _in_order(fitting, linked, reply.visible):
        reason = reply.cap(match)
        differs = "" if reason else difference(match.row)
        if differs == GONE:
            reason = "gone"

        if reason:
            capped.append((match, reason))
            continue

        reply.add(match)
        if differs:
            match.text = _changed_line(match.row)

    matches = sorted(reply.matches, key=_position)
    decided = {match.row.number for match in matches}
    decided.update([match.row.number for match, _ in capped])
    undecided = [drop for drop in drops if drop[0].number not in decided]

    selection = Selection(matches, beyond, undecided)
    room_for_titles = reply.budget.tokens + min(0, NAMED_TOKENS - context.tokens)
    _name(selection, capped, room_for_titles, named_ids, difference)

    return selection


class _Reply:
    """The matches that a reply shows, and what it still has room for."""

    def __init__(self, context: Context, shown_ids: "Iterable[str]") -> None:
        self.matches: list[Match] = []
        self.budget = _Budget(context)
        self._shown = set(shown_ids)
        self.visible = self._shown.union(context.returned)
        """Ids that lead to linked rules: of this reply, of earlier ones, and of the caller's."""

        self._is_brief = context.surface == BRIEF
        self._per_call = context.per_call
        self._earlier = len(context.earlier)
        self._room = PER_SESSION - len(self._shown)
        self._citations = CITED * max(len(context.paths), 1)
        self._relatives: set[str] = set()

    def cap(self, match: Match) -> str:
        """Return why a match is left out; empty if there is room for it."""
        count = len(self.matches)
        if match.key in self._shown:
            return "already shown"
        if is_cited_only(match.triggers) and not self._citations:
            return "citation cap"
        if self._per_call and self._earlier + count >= self._per_call:
            return "call cap"
        if self._is_brief and _is_relative(match.row, self.matches, self._relatives):
            return "version"
        if count >= self._room:
            return "session cap"

        return self.budget.cap(match.row, _cost(match))

    def add(self, match: Match) -> None:
        """Take a match that no cap leaves out."""
        row = match.row
        self.matches.append(match)
        self._shown.update((row.id, match.key))  # ids may repeat where branches met
        self.visible.add(row.id)
        self._relatives.update(row.words(SAME))
        self._citations -= is_cited_only(match.triggers)
        self.budget.spend(row, _cost(match))


def _cost(match: Match) -> int:
    return tokens(match.text) + 1  # its line's end


class _Budget:
    """What a reply still has room for."""

    def __init__(self, context: Context) -> None:
        self.tokens = context.tokens - context.earlier_tokens - FRAME_TOKENS
        procedural = [match for match in context.earlier if match.row.flags & PROCEDURAL]
        self._procedural = PROCEDURAL_TOKENS - sum(map(_cost, procedural))
        self._of_kind = dict(context.budgets)
        self._per_category = context.per_category
        self._of_category: dict[str, int] = {}

    def cap(self, row: "Row", cost: int) -> str:
        """Return the cap that leaves a record out; empty if there is room for it."""
        category = row.values[CATEGORY]
        count = self._of_category.get(category, 0)
        if category and self._per_category and count >= self._per_category:
            return "category cap"

        room = min(self.tokens, self._of_kind.get(row.values[KIND], cost))
        if row.flags & PROCEDURAL:
            room = min(room, self._procedural)

        if cost > room:
            return "token cap"

        return ""

    def spend(self, row: "Row", cost: int) -> None:
        """Take the share of a record that is shown."""
        kind, category = row.values[KIND], row.values[CATEGORY]
        self.tokens -= cost
        self._of_category[category] = self._of_category.get(category, 0) + 1
        if kind in self._of_kind:
            self._of_kind[kind] -= cost
        if row.flags & PROCEDURAL:
            self._procedural -= cost


def _in_order(fitting: list[Match], linked: list[Match], visible: set[str]) -> "Iterator[Match]":
    """Yield the matches by rank, and a linked rule once `visible` has a record that leads to it.

    `visible` grows while this runs.
    """
    ready = [rule for rule in linked if _is_linked(rule, visible)]
    waiting = [rule for rule in linked if rule not in ready]
    ordered = fitting
    if ready:
        ordered = sorted([*fitting, *ready], key=_rank)

    for match in ordered:
        yield match
        for rule in [rule for rule in waiting if _is_linked(rule, visible)]:
            waiting.remove(rule)
            yield rule


def _rank(match: Match) -> tuple[bool, bool, float, int, int]:
    is_last, is_cited = is_anywhere(match.triggers), is_cited_only(match.triggers)
    return is_last, is_cited, -match.score, match.width, match.row.number


def _position(match: Match) -> tuple[bool, float, int, int, int]:
    position_in_brief = int(match.row.values[PLACE] or 0)
    is_cited = is_cited_only(match.triggers)
    return is_cited, -match.score, match.width, position_in_brief, match.row.number


def _add_notes(matches: list[Match]) -> None:
    """Have a reply of few records say more of each."""
    for match in matches:
        if match.text == match.teaser:
            match.text = match.row.noted(match.teaser)


def _is_linked(match: Match, visible: "set[str]") -> bool:
    return any(trigger[0] == Via.LINK and trigger[1:] in visible for trigger, _ in match.triggers)


def _name(
    selection: Selection,
    capped: "list[tuple[Match, str]]",
    room: int,
    named_ids: "Collection[str]",
    difference: "Callable[[Row], str]",
) -> None:
    """Name by title what a cap leaves out.

    The cap of a category is there to show a few of many: what it leaves out is not named.
    """
    for match, reason in capped:
        row = match.row
        cost = tokens(match.title) + 1
        is_named = False
        if reason in NAMEABLE and match.key in named_ids:
            reason = "already named"
        elif reason in NAMEABLE and cost <= room:
            differs = difference(row)
            if differs:
                match.text = _changed_line(row)

            is_named = differs != GONE
            if not is_named:
                reason = "gone"

        if is_named:
            selection.named.append(match)
            room -= cost

        selection.drops.append((row, reason))
        selection.omitted += not is_named and reason.endswith("cap")

    if not (selection.matches or selection.named):
        selection.skip_reason = _skip_reason(selection)


def _skip_reason(selection: Selection) -> str:
    if selection.omitted:
        return "capped"
    if any(reason.startswith("already") for _, reason in selection.drops):
        return "already shown"
    return "narrowed"


def _changed_line(row: "Row") -> str:
    return f"- [{row.id}] has changed since it was read: {row.values[PATH]}"


def _is_relative(row: "Row", matches: list[Match], relatives: set[str]) -> bool:
    """Say whether a match replaces, extends or is a version of a record, or the other way round."""
    if row.id in relatives:
        return True

    ids = {match.row.id for match in matches}
    for word in row.words(SAME):
        names = relatives if word[0] == "/" else ids
        if word in names:
            return True

    return False


def tokens(text: str) -> int:
    """Return the estimated tokens of a text: one a CJK character, else a quarter a character."""
    if text.isascii():
        return -(-len(text) // 4)

    wide = sum(
        0x1100 <= code <= 0x11FF
        or 0x2E80 <= code <= 0xA4CF
        or 0xAC00 <= code <= 0xD7FF
        or 0xF900 <= code <= 0xFAFF
        or 0xFF00 <= code <= 0xFFEF
        or 0x20000 <= code <= 0x3FFFF
        for code in map(ord, text)
    )
    return wide - (wide - len(text)) // 4
