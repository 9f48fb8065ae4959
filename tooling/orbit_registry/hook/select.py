"""Chooses which records are pushed where something is about to be done: the only place that does, for every surface.

It reads the index and asks the ledger; it opens no file of its own, knows no agent's protocol and prints nothing. The
standard library's built-in modules have to do: a hook waits for this at each call of a tool.
"""

from orbit_registry.hook.context import (
    BRIEF,
    CODE,
    PER_CALL,
    PER_SESSION,
    PROMPT,
    SESSION,
    TOOL,
    TRIAL,
    Choice,
    Context,
    Selection,
    is_anywhere,
    is_of_another,
)  # fmt: skip
from orbit_registry.hook.index import (
    AGENTS,
    ANTI_CONTEXTS,
    BROAD,
    CATEGORY,
    CONTEXTS,
    GATE,
    ID,
    LINKS,
    PATH,
    PHASE,
    PROCEDURAL,
    PROJECT,
    STATUS,
    TASKS,
    UNTRUSTED,
    checksum,
)  # fmt: skip

TYPE_CHECKING = False  # `typing` is too much to import here
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orbit_registry.hook.index import Index, Row
    from orbit_registry.hook.session import Ledger

    Ways = dict[int, list[tuple[str, str]]]

SEARCHED = 5
EXAMINED = 200
"""So many records, the first in rank, are looked at in full; those beyond are counted as omitted."""
ENOUGH = PER_SESSION + 2 * PER_CALL
"""Once so many of them fit, a call that shows `PER_CALL` looks at no more: a session has seen `PER_SESSION` at most."""
ALWAYS, LINKED = "always", "relevant_and_linked"
"""Gates of kinds: shown to whoever begins something; shown only where it is relevant and something leads to it."""


def select(index: "Index", context: Context, ledger: "Ledger | None" = None) -> Selection:
    """Return what is to be shown, as it stands in a text; the ledger, where there is one, has noted it as shown.

    Raises:
        OSError: the ledger can't be kept; nothing may be shown then, for it would be shown again and again.
    """
    asked = context.paths or context.tags or context.text or context.error or context.categories or context.returned
    if not (asked or context.surface == SESSION):
        return Selection([], 0, [], "nothing asked")
    ways: Ways = {}
    others: set[int] = set()
    scores = _lead(index, context, ways, others)
    fitting, drops, beyond = _narrowed(index, context, ways, scores)
    beyond += len(others.difference(ways))
    linked = _linked(index, context, fitting, ways, scores) if fitting or context.returned else []
    if not (fitting or linked):
        return Selection([], 0, drops, "narrowed" if ways else "no match")
    from orbit_registry.hook.caps import settled  # most calls have nothing to show

    # Whether a file is as it was, and which glob led to it, is asked of the few that are shown: it costs the most.
    if ledger is None:
        found = settled(context, fitting, linked, drops, beyond, (), index.difference)
    else:
        try:
            found = settled(context, fitting, linked, drops, beyond, ledger.begin(), index.difference)
            if found.matches:
                ledger.add([one.row.values[ID] for one in found.matches])
        finally:
            ledger.end()
        if index.holdout:
            _withhold(found, index.holdout, ledger.name.partition(".")[0])
    for one in found.matches:
        one.ways = [(asked, index.glob_of(one.row, int(place)) if place else "") for asked, place in one.ways]
    return found


def is_withheld(session: str, record_id: str, holdout: int) -> bool:
    """Say whether a session does without a record: the same answer whenever it is asked, by lot among sessions."""
    drawn = checksum(f"{session}\0{record_id}".encode("utf-8", "surrogatepass"))
    for factor in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB):  # the last steps of splitmix64 spread what is alike
        drawn = (drawn ^ drawn >> 31) * factor & 0xFFFFFFFFFFFFFFFF
    return (drawn ^ drawn >> 31) % 1_000_000 < holdout


def _withhold(found: Selection, holdout: int, session: str) -> None:
    """Take out what the session does without, after it had its place: what else is shown is the same either way."""
    if session.startswith(TRIAL):
        return
    kept = []
    for one in found.matches:
        if is_withheld(session, one.row.values[ID], holdout):
            found.withheld.append(one.row.values[ID])
            found.drops.append((one.row, "withheld"))
        else:
            kept.append(one)
    if found.withheld and not kept:
        found.skip_reason = "withheld"
    found.matches = kept


# ---------------------------------------------------------------------------------------------------------- ways in


def _lead(index: "Index", context: Context, ways: "Ways", others: set[int]) -> "dict[str, float] | None":
    """Add the records that a path, a tag, a category, an error, the text or the project leads to, by number, and how.

    Of a path and of a category those are added that may be looked at; `others` gets the numbers of the rest. Returns
    what the text is worth to each record, by its path; None where nobody searched.
    """
    led = [(f"/{path}", index.match(path)) for path in dict.fromkeys(context.paths)]
    led += [(f"@{category}", index.under("c", category)) for category in dict.fromkeys(context.categories)]
    for asked, hits in led:
        for hit in hits[:EXAMINED]:
            ways.setdefault(hit >> 32, []).append((asked, str(hit & 0xFFFFFFFF) if asked[0] == "/" else ""))
        others.update([hit >> 32 for hit in hits[EXAMINED:]])
    for tag in dict.fromkeys(context.tags):
        for hit in index.under("t", tag):
            ways.setdefault(hit >> 32, []).append((f"#{tag}", ""))
    if context.error:
        from orbit_registry.hook.failures import matching  # most calls are no failures

        for number, pattern in matching(index, context.error):
            ways.setdefault(number, []).append((f"~{pattern}", ""))
    if context.surface == SESSION:
        for number, flags in enumerate(index.flags[: index.pushed].tolist()):
            if flags & BROAD:
                ways.setdefault(number, []).append(("project", ""))
    if context.surface in (SESSION, BRIEF):
        for hit in index.under("g", ALWAYS):
            ways.setdefault(hit >> 32, []).append(("start", ""))
    if context.search is None or not context.text:
        return None
    scores = dict(context.search(context.text))
    for number in _numbers(index, list(scores)[:SEARCHED]):
        ways.setdefault(number, []).append(("text", ""))
    return scores


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


def _narrowed(
    index: "Index", context: Context, ways: "Ways", scores: "dict[str, float] | None"
) -> "tuple[list[Choice], list[tuple[Row, str]], int]":
    """Return what may be shown, what may not and why, and how many records were not looked at."""
    fitting: list[Choice] = []
    drops: list[tuple[Row, str]] = []
    looked = 0
    numbers = sorted(ways)
    if context.surface in (SESSION, BRIEF):
        numbers.sort(key=lambda number: is_anywhere(ways[number]))
    most = EXAMINED * (1 + len(context.categories))
    enough = most if context.surface == BRIEF or context.per_call != PER_CALL else ENOUGH
    for number in numbers[:most]:
        row = index.row(number) if len(fitting) < enough else None
        if row is None:
            break
        looked += 1
        reason = _reason(row, context, ways[number], scores)
        if reason:
            drops.append((row, reason))
        else:
            fitting.append(Choice(row, ways[number], _pointer(row, context.now)))
    return fitting, drops, len(numbers) - looked


def _pointer(row: "Row", now: float) -> str:
    """Return the line for a record that may be out of date or not hold; empty where it is shown whole."""
    if row.values[PHASE] == "pending":
        first, _, more = row.teaser.partition("\n  more: ")
        return f"{first} (status {row.values[STATUS]}, so it may not hold: {more or row.values[PATH]})"
    cause = row.doubt(now)
    return f"- [{row.values[ID]}] may be out of date ({cause}): {row.values[PATH]}" if cause else ""


def _reason(
    row: "Row", context: Context, ways: "list[tuple[str, str]]", scores: "dict[str, float] | None" = None
) -> str:
    """Return why a record is left out whatever its session has seen; empty where it may be shown."""
    agents, tasks = row.words(AGENTS), row.words(TASKS)
    if row.flags & UNTRUSTED:
        return "untrusted"
    if row.is_expired(context.now):
        return "expired"
    if row.flags & BROAD and context.surface in (TOOL, PROMPT) and all(asked[0] == "/" for asked, _ in ways):
        return "broad"
    if is_of_another(row.values[PROJECT], context.project):
        return "project"
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
    procedural = row.flags & PROCEDURAL or row.values[GATE] == "procedural"
    if procedural and context.task_class != CODE:
        return "procedural"
    if row.values[GATE] == LINKED and not _is_due(row, context, ways, scores):
        return "rule"
    return "stale" if procedural and row.doubt(context.now) else ""


def _is_due(row: "Row", context: Context, ways: "list[tuple[str, str]]", scores: "dict[str, float] | None") -> bool:
    """Say whether something leads to a rule, and whether it is relevant.

    Where nobody searched for the text, a path or a shown record that leads to it makes it so; a tag does not.
    """
    by = {asked[0] for asked, _ in ways}
    direct = not by.isdisjoint("/=")
    if scores is None:
        return direct
    led = direct or "#" in by or ("project", "") in ways or (context.project and row.values[PROJECT] == context.project)
    return bool(led) and scores.get(row.values[PATH], 0.0) >= context.min_relevance


def _linked(
    index: "Index", context: Context, fitting: "list[Choice]", ways: "Ways", scores: "dict[str, float] | None"
) -> "list[Choice]":
    """Return the rules that nothing but records which fit lead to, or whose relevance rests on that.

    A link leads from a record to a rule whichever of the two states it.
    """
    leading = led_by(index, [one.row for one in fitting], context.returned)
    return _narrowed(index, context, {one: ways.get(one, []) + by for one, by in leading.items()}, scores)[0]


def led_by(index: "Index", rows: "Sequence[Row]", returned: "Mapping[str, Sequence[str]]") -> "Ways":
    """Return the rules, by number, that links join with some records and are none of them, each with its ways in.

    `returned` are ids of further records, each with what they link to.
    """
    here = {row.number for row in rows}
    is_linking = bool(index.under("l", ""))
    leading: Ways = {}
    for known, targets in (*((row.values[ID], row.words(LINKS)) for row in rows), *returned.items()):
        hits = [hit for target in targets for hit in index.under("i", target)]
        hits += index.under("l", known) if is_linking else []
        for number in dict.fromkeys(hit >> 32 for hit in hits):
            if number not in here:
                leading.setdefault(number, []).append((f"={known}", ""))
    return leading


def standing_reason(row: "Row", now: float) -> str:
    """Return why a record can't stand in a file that an agent loads by its path alone; empty where it may."""
    reason = _reason(row, Context(BRIEF, now), [("/", "")]) or ("stale" if row.doubt(now) else "")
    return reason or (row.values[PHASE] if row.values[PHASE] != "live" else "")
