"""Chooses which records are pushed where something is about to be done: the only place that does, for every surface.

It reads the index and asks the ledger; it opens no file of its own, knows no agent's protocol and prints nothing. The
standard library's built-in modules have to do: a hook waits for this at each call of a tool.
"""

from orbit_registry.push.reader import (
    AGENTS,
    ANTI_CONTEXTS,
    BROAD,
    CATEGORY,
    CONTEXTS,
    GATE,
    ID,
    PATH,
    PROCEDURAL,
    TASKS,
)  # fmt: skip

TYPE_CHECKING = False  # `typing` is too much to import here
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from orbit_registry.push.ledger import Ledger
    from orbit_registry.push.reader import Index, Row

    Ways = dict[int, list[tuple[str, str]]]

PER_CALL, PER_SESSION = 5, 20
TOKENS, PROCEDURAL_TOKENS, FRAME_TOKENS = 1000, 200, 80
"""The most tokens of a whole reply, of procedural records in it, and what of it is kept for the frame around them."""
SEARCHED = 5
EXAMINED = 200
"""So many records, the first in rank, are looked at in full; those beyond are counted as omitted."""
CODE = "code"
"""The class of tasks that write code. An empty class means that nobody knows."""
TOOL, PROMPT, SESSION, BRIEF = "tool", "prompt", "session", "brief"
"""Surfaces: a tool is about to run; a prompt was given; a session starts; somebody asked for a brief."""

DROPS = {
    "expired": "its time is over",
    "changed": "its file changed since the last sync",
    "broad": "it applies to more than a fifth of all files: shown when a session starts, and in briefs",
    "agent": "it names other agents",
    "task": "it names other tasks",
    "category": "its category is none of the agent's",
    "context": "it holds in contexts that the task's text does not name",
    "anti-context": "the task's text names a context in which it does not hold",
    "procedural": "it is about how work is done, and this is not known to be work on code",
    "rule": "it is a rule, and neither a path nor the task's text leads to it",
    "already shown": "this session has it",
    "call cap": f"{PER_CALL} are shown at a time",
    "session cap": f"{PER_SESSION} are shown in a session",
    "category cap": "an agent gets a few of each category",
    "token cap": f"a reply has {TOKENS} tokens where nothing else is said, {PROCEDURAL_TOKENS} of them procedural",
}
"""Why a record that has a way in is not shown: all reasons there are."""
CAPS = ("call cap", "session cap", "category cap", "token cap")
SKIPS = {
    "nothing asked": "no path of this project, no tag and no text was named",
    "no index": "there is no push index that can be used",
    "no match": "no record applies",
    "narrowed": "records apply, and each was left out for a reason of its own",
    "already shown": "the session has all that apply",
    "capped": "the session has seen its share, or nothing fits into a reply",
    "too large": "the payload is larger than is read",
    "deadline": "there was no time left",
}
"""Why a dispatch shows nothing: all reasons there are."""


class Context:
    """What is known where something is about to be done; paths count from the project's root, `now` from 1970."""

    __slots__ = (
        "agent", "categories", "now", "paths", "per_call", "per_category", "search", "surface", "tags", "task",
        "task_class", "text", "tokens",
    )  # fmt: skip

    def __init__(
        self,
        surface: str,
        now: float,
        *,
        paths: "Sequence[str]" = (),
        tags: "Sequence[str]" = (),
        agent: str = "",
        task: str = "",
        task_class: str = "",
        text: str = "",
        search: "Callable[[str], Iterable[str]] | None" = None,
        categories: "Sequence[str]" = (),
        per_category: int = 0,
        per_call: int = PER_CALL,
        tokens: int = TOKENS,
    ) -> None:
        """`search` returns paths of records for a text, the best first; only surfaces that have one give it.

        `categories` are those of an agent: each leads to its records, and records of other categories are left out,
        whatever else leads to them. Empty, nothing is narrowed. `per_category` and `per_call` of 0 are no cap; `tokens`
        are those of the whole reply.
        """
        self.surface, self.now, self.paths, self.tags = surface, now, paths, tags
        self.agent, self.task, self.task_class, self.text, self.search = agent, task, task_class, text, search
        self.categories, self.per_category, self.per_call, self.tokens = categories, per_category, per_call, tokens


class Choice:
    """A record that applies; `ways` are pairs of what was asked and the glob.

    What was asked is `/` and a path, `#` and a tag, `@` and a category, `text` or `project`.
    """

    __slots__ = ("row", "ways")

    def __init__(self, row: "Row", ways: "list[tuple[str, str]]") -> None:
        self.row, self.ways = row, ways


class Selection:
    """What is shown, how many records wait for another call, and what else applied with the reason it was left out."""

    __slots__ = ("drops", "matches", "omitted", "skip_reason")

    def __init__(
        self, matches: "list[Choice]", omitted: int, drops: "list[tuple[Row, str]]", skip_reason: str = ""
    ) -> None:
        self.matches, self.omitted, self.drops, self.skip_reason = matches, omitted, drops, skip_reason


def select(index: "Index", context: Context, ledger: "Ledger | None" = None) -> Selection:
    """Return what is to be shown, in rank order; the ledger, where there is one, has noted it as shown.

    Raises:
        OSError: the ledger can't be kept; nothing may be shown then, for it would be shown again and again.
    """
    if not (context.paths or context.tags or context.text or context.categories or context.surface == SESSION):
        return Selection([], 0, [], "nothing asked")
    ways = _ways(index, context)
    beyond = _categorized(index, context, ways)
    fitting, drops, left = _narrowed(index, context, ways)
    beyond += left
    if not fitting:
        return Selection([], 0, drops, "narrowed" if ways else "no match")
    if ledger is None:
        return _capped(context, fitting, drops, beyond, ())
    try:
        found = _capped(context, fitting, drops, beyond, ledger.begin())
        if found.matches:
            ledger.add([one.row.values[ID] for one in found.matches])
    finally:
        ledger.end()
    return found


def tokens(text: str) -> int:
    """Return how many tokens a text has, about: a quarter of its characters, and each CJK character one."""
    if text.isascii():
        return -(-len(text) // 4)
    wide = sum(
        0x1100 <= code <= 0x11FF or 0x2E80 <= code <= 0xA4CF or 0xAC00 <= code <= 0xD7FF or 0xF900 <= code <= 0xFAFF
        or 0xFF00 <= code <= 0xFFEF or 0x20000 <= code <= 0x3FFFF
        for code in map(ord, text)
    )  # fmt: skip
    return wide - (wide - len(text)) // 4


# ---------------------------------------------------------------------------------------------------------- ways in


def _ways(index: "Index", context: Context) -> "Ways":
    """Return by number the records that have a way in, and their ways: a path, a tag, the text, the whole project."""
    ways: Ways = {}
    for path in dict.fromkeys(context.paths):
        for hit in index.match(path):
            ways.setdefault(hit >> 32, []).append((f"/{path}", str(hit & 0xFFFFFFFF)))
    for tag in dict.fromkeys(context.tags):
        for hit in index.under("t", tag):
            ways.setdefault(hit >> 32, []).append((f"#{tag}", ""))
    if context.surface == SESSION:
        for number, flags in enumerate(index.flags[: index.pushed].tolist()):
            if flags & BROAD:
                ways.setdefault(number, []).append(("project", ""))
    if context.search is not None and context.text:
        wanted = list(dict.fromkeys(context.search(context.text)))[:SEARCHED]
        for number in _numbers(index, wanted):
            ways.setdefault(number, []).append(("text", ""))
    return ways


def _categorized(index: "Index", context: Context, ways: "Ways") -> int:
    """Add the first records of each of the agent's categories; return how many others have one of them."""
    others: set[int] = set()
    for category in dict.fromkeys(context.categories):
        hits = index.under("c", category)
        for hit in hits[:EXAMINED]:
            ways.setdefault(hit >> 32, []).append((f"@{category}", ""))
        others.update(hit >> 32 for hit in hits[EXAMINED:])
    return len(others.difference(ways))


def _numbers(index: "Index", paths: "Sequence[str]") -> "list[int]":
    """Return the pushed records whose files these are; it reads the index to the end, so hooks never come here."""
    left = set(paths)
    found = []
    for number in range(index.pushed if left else 0):
        row = index.row(number)
        if row is not None and row.values[PATH] in left:
            found.append(number)
    return found


# -------------------------------------------------------------------------------------------------------- narrowing


def _narrowed(index: "Index", context: Context, ways: "Ways") -> "tuple[list[Choice], list[tuple[Row, str]], int]":
    """Return what may be shown, what may not and why, and how many records were not looked at."""
    fitting: list[Choice] = []
    drops: list[tuple[Row, str]] = []
    numbers = sorted(ways)
    most = EXAMINED * (1 + len(context.categories))
    for number in numbers[:most]:
        row = index.row(number)
        if row is None:
            break
        reason = _reason(row, context, ways[number])
        if not reason and not index.is_current(row):
            reason = "changed"
        if reason:
            drops.append((row, reason))
        else:
            named = [(asked, index.glob_of(row, int(place)) if place else "") for asked, place in ways[number]]
            fitting.append(Choice(row, named))
    return fitting, drops, len(numbers[most:])


def _reason(row: "Row", context: Context, ways: "list[tuple[str, str]]") -> str:
    """Return why a record is left out whatever its session has seen; empty where it may be shown."""
    agents, tasks = row.words(AGENTS), row.words(TASKS)
    if row.is_expired(context.now):
        return "expired"
    if row.flags & BROAD and context.surface in (TOOL, PROMPT):
        return "broad"
    if context.agent and agents and context.agent not in agents:
        return "agent"
    if context.task and tasks and context.task not in tasks:
        return "task"
    if context.categories and row.values[CATEGORY] and row.values[CATEGORY] not in context.categories:
        return "category"
    if context.text:
        text = context.text.casefold()
        contexts = row.words(CONTEXTS)
        if any(word.casefold() in text for word in row.words(ANTI_CONTEXTS)):
            return "anti-context"
        if contexts and not any(word.casefold() in text for word in contexts):
            return "context"
    if (row.flags & PROCEDURAL or row.values[GATE] == "procedural") and context.task_class != CODE:
        return "procedural"
    if row.values[GATE] == "relevant_and_linked" and all(asked[0] in "#@" for asked, _ in ways):
        return "rule"
    return ""


def standing_reason(row: "Row", now: float) -> str:
    """Return why a record can't stand in a file that an agent loads by its path alone; empty where it may."""
    return _reason(row, Context(BRIEF, now), [("/", "")])


# ------------------------------------------------------------------------------------------------------------- caps


def _capped(
    context: Context, fitting: "list[Choice]", drops: "list[tuple[Row, str]]", beyond: int, shown: "Iterable[str]"
) -> Selection:
    """Return the first records that the session does not have and that caps and budgets leave room for."""
    known = set(shown)
    room = PER_SESSION - len(known)
    whole, procedural = context.tokens - FRAME_TOKENS, PROCEDURAL_TOKENS
    of_category: dict[str, int] = {}
    found: list[Choice] = []
    omitted = beyond
    for choice in fitting:
        row = choice.row
        cost = tokens(row.teaser) + 1  # its line's end
        of_these = cost if row.flags & PROCEDURAL else 0
        category = row.values[CATEGORY]
        if row.values[ID] in known:
            drops.append((row, "already shown"))
            continue
        if context.per_call and len(found) >= context.per_call:
            drops.append((row, "call cap"))
        elif len(found) >= room:
            drops.append((row, "session cap"))
        elif category and context.per_category and of_category.get(category, 0) >= context.per_category:
            drops.append((row, "category cap"))
        elif cost > whole or of_these > procedural:
            drops.append((row, "token cap"))
        else:
            known.add(row.values[ID])  # ids may repeat where branches met
            found.append(choice)
            whole -= cost
            procedural -= of_these
            of_category[category] = of_category.get(category, 0) + 1
            continue
        omitted += 1
    if found:
        return Selection(found, omitted, drops)
    return Selection([], omitted, drops, "capped" if omitted else "already shown")
