"""Selection of the records that are pushed at one moment, for every surface.

A hook waits for it at each tool call, so it imports built-in modules only.
"""

from orbit_registry.hook import index as reader
from orbit_registry.hook.context import Context, Match, Selection, is_other_project
from orbit_registry.hook.session import SessionLog, apply_caps
from orbit_registry.model import fields
from orbit_registry.model.reach import (
    ALWAYS,
    BRIEF,
    BY_PATH,
    LINKED,
    PER_CALL,
    PER_SESSION,
    PROMPT,
    SESSION,
    TOOL,
    TRIAL,
    WIDE_PLACES,
    Via,
    is_anywhere,
    is_cited_only,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from orbit_registry.hook.index import Index
    from orbit_registry.model.fields import Row

    Triggers = dict[int, list[tuple[str, str]]]


EXAMINED = 200  # records, the first in push order, that are examined; the rest counts as omitted
ENOUGH = PER_SESSION + PER_CALL + 40
"""Matches after which a call that shows `PER_CALL` stops.

A session was shown at most `PER_SESSION`, and a reply has room for some forty titles.
"""
BY_WORDS = {PROMPT: 3, BRIEF: 12}  # most records that the words of a text lead to
WITHOUT_FLOOR = {PROMPT: 0, BRIEF: PER_CALL}
"""The first of these that need no score: a brief was asked for, so it shows the best ones."""
NEAR_MISSES = 3  # most records below the score that is asked for that are noted
UNKNOWN_WIDTH = 1 << 32
NO_SCORES: "Mapping[int, float]" = {}
SPREADING = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
"""Factors of the last steps of splitmix64, which spread numbers that are alike."""


def select(index: "Index", context: Context, session_log: "SessionLog | None" = None) -> Selection:
    """Return the records to show; the session log, if any, has noted them as shown."""
    request = (
        context.paths,
        context.tags,
        context.text,
        context.error,
        context.categories,
        context.returned,
        context.purposes,
        context.names,
        context.breaks,
    )
    if not (any(request) or context.surface == SESSION):
        return Selection([], 0, [], "nothing asked")

    fitting, linked, drops, beyond = _applying(index, context)
    if not (fitting or linked):
        is_narrowed = any(reason != "below relevance" for _, reason in drops)
        skip_reason = "narrowed" if is_narrowed else "no match"
        return Selection([], 0, drops, skip_reason)

    def capped(shown_ids: "Sequence[str]", named_ids: "Collection[str]") -> Selection:
        # A file's state and the matching glob cost the most, so only the few shown records are
        # asked for them.
        return apply_caps(
            context, fitting, linked, drops, beyond, shown_ids, named_ids, index.difference
        )

    if session_log is None:
        selection = capped((), ())
    else:
        selection = _in_session(index.holdout, session_log, capped)

    if context.surface == SESSION:
        selection.others = index.pushed - len(selection.matches) - len(selection.named)

    for match in selection.matches:
        match.triggers = [(way, _glob(index, match.row, at)) for way, at in match.triggers]

    return selection


def _applying(
    index: "Index", context: Context
) -> "tuple[list[Match], list[Match], list[tuple[Row, str]], int]":
    """Return the records that apply and the rules linked with them, the drops, and how many were
    not examined.
    """
    triggers: Triggers = {}
    others: set[int] = set()
    _find_triggers(index, context, triggers, others)
    _find_cited(index, context.paths, triggers)
    scores, by_words, misses = _find_by_words(index, context, triggers)

    for number in triggers:
        if Via.ERROR in _ways(triggers[number]):
            by_words[number] = 1.0  # what has just failed is first

    options = _find_options(index, context, triggers, by_words)
    for number, (_, word, _) in context.breaks.items():
        triggers.setdefault(number, []).append((f"{Via.FORBIDDEN}{word}", ""))
        by_words[number] = 2.0

    fitting, drops, beyond = _narrow(index, context, triggers, scores, by_words)
    if options:
        _show_options(fitting, options)

    for match in fitting:
        if match.row.number in context.breaks:
            match.key, _, match.text = context.breaks[match.row.number]

    drops += [miss for miss in misses if miss[0].number not in options]
    beyond += len(others.difference(triggers))

    decided = [match.row for match in fitting if match.row.number < index.pushed]
    leading = linked_rules(index, decided, context.returned)
    by_rule = {number: triggers.get(number, []) + by for number, by in leading.items()}
    linked = _narrow(index, context, by_rule, scores)[0]
    return fitting, linked, drops, beyond


def _in_session(
    holdout: int,
    session_log: SessionLog,
    capped: "Callable[[Sequence[str], Collection[str]], Selection]",
) -> Selection:
    """Return what a session is shown, noted as shown, without its hold-out."""
    try:
        shown_ids = session_log.begin()
        named_ids = session_log.named
        selection = capped(shown_ids, named_ids)
        _note(session_log, selection)
    finally:
        session_log.end()

    session = session_log.name.partition(".")[0]
    names = (*shown_ids, *named_ids)
    selection.is_introduced = not all(is_withheld(session, name, holdout) for name in names)
    if holdout:
        _withhold(selection, holdout, session)

    return selection


def _glob(index: "Index", row: "Row", at: str) -> str:
    if at:
        return index.glob_of(row, int(at))

    return ""


def _note(session_log: "SessionLog", selection: Selection) -> None:
    if not (selection.matches or selection.named):
        return

    ids: list[str] = []
    for match in selection.matches:
        ids += match.row.id, match.key

    session_log.add([*dict.fromkeys(ids)], [match.key for match in selection.named])


def is_withheld(session: str, record_id: str, holdout: int) -> bool:
    """Say whether a record is in a session's hold-out, drawn from a hash of both.

    A trial has no hold-out.
    """
    number = reader.checksum(f"{session}\0{record_id}".encode("utf-8", "surrogatepass"))
    for factor in SPREADING:
        number = (number ^ number >> 31) * factor & 0xFFFFFFFFFFFFFFFF

    return (number ^ number >> 31) % 1_000_000 < holdout and not session.startswith(TRIAL)


def _withhold(selection: Selection, holdout: int, session: str) -> None:
    """Remove the hold-out after the caps, so that what else is shown is the same either way."""
    remaining = []
    for match in selection.matches:
        if is_withheld(session, match.row.id, holdout):
            selection.withheld.append(match.row.id)
            selection.drops.append((match.row, "withheld"))
        else:
            remaining.append(match)

    selection.named = [
        match for match in selection.named if not is_withheld(session, match.row.id, holdout)
    ]

    if selection.withheld and not (remaining or selection.named):
        selection.skip_reason = "withheld"

    selection.matches = remaining


def _find_triggers(
    index: "Index", context: Context, triggers: "Triggers", others: set[int]
) -> None:
    """Add what leads to each record.

    `others` gets the numbers beyond the first `EXAMINED` of a path or category.
    """
    for trigger, hits in _hits_by_name(index, context):
        is_path = trigger[0] == Via.PATH
        if is_path and len(hits) > EXAMINED:
            hits = sorted(hits, key=is_wide)  # the cut leaves out those of wide globs first

        for hit in hits[:EXAMINED]:
            at = str(hit & reader.AT) if is_path else ""
            triggers.setdefault(hit >> 32, []).append((trigger, at))

        others.update([hit >> 32 for hit in hits[EXAMINED:]])

    for tag in dict.fromkeys(context.tags):
        for hit in index.hits_under("t", tag):
            triggers.setdefault(hit >> 32, []).append((f"{Via.TAG}{tag}", ""))

    if context.error:
        for number, pattern in error_matches(index, context.error):
            triggers.setdefault(number, []).append((f"{Via.ERROR}{pattern}", ""))

    if context.surface == SESSION:
        for number, flags in enumerate(index.flags[: index.pushed]):
            if flags & fields.BROAD:
                triggers.setdefault(number, []).append((Via.PROJECT, ""))

    if context.surface in (SESSION, BRIEF):
        for hit in index.hits_under("g", ALWAYS):
            triggers.setdefault(hit >> 32, []).append((Via.START, ""))


def _find_cited(index: "Index", paths: "Sequence[str]", triggers: "Triggers") -> None:
    for path in dict.fromkeys(paths):
        for number, ways in cited(index, path):
            triggers.setdefault(number, []).extend([(way, "") for way in ways])


def cited(index: "Index", path: str) -> "Iterator[tuple[int, list[str]]]":
    """Yield the records that the citations in a file lead to, as numbers with their triggers.

    A decision that waits for its acceptance is one of them. A closed record leads to what took its
    place, and a second trigger names it.
    """
    for hit in index.hits_under(reader.CITED, path, everything=True):
        closed = hit & reader.AT
        ways = [f"{Via.CITES}{path}"]
        if closed:
            ways.append(f"{Via.SUPERSEDED}{index.row(closed - 1).id}")

        yield hit >> 32, ways


def _hits_by_name(index: "Index", context: Context) -> "Iterator[tuple[str, list[int]]]":
    """Yield each path, category and command of a request, as a trigger, with its hits."""
    paths = dict.fromkeys(context.paths)
    for path in paths:
        yield f"{Via.PATH}{path}", index.match(path)
    for name in dict.fromkeys(context.categories):
        yield f"{Via.CATEGORY}{name}", index.hits_under("c", name)
    for purpose in _purposes(context):
        yield f"{Via.COMMAND}{purpose}", index.hits_under("k", purpose)
    for path in paths:
        yield f"{Via.SUPERSEDED}{path}", index.hits_under(reader.REPLACED, path)


def _purposes(context: Context) -> "Sequence[str]":
    if context.surface not in (PROMPT, BRIEF) or not context.text:
        return context.purposes

    # Tool calls, which most calls are, have no use for it.
    from orbit_registry.hook.call import ends_of
    from orbit_registry.hook.purpose import purposes_in
    from orbit_registry.hook.question import LONGEST, asks_to_run

    purposes = purposes_in("\n".join(ends_of(context.text, LONGEST)))
    if not purposes or asks_to_run(context.text) or context.writes_code:
        return purposes

    return []


def _find_by_words(
    index: "Index", context: Context, triggers: "Triggers"
) -> "tuple[Mapping[int, float] | None, dict[int, float], list[tuple[Row, str]]]":
    """Add what words lead to; return all scores, those of what was added, and the dropped rows.

    The first is None where no rule asks for scores.
    """
    scores: Mapping[int, float] | None = None
    by_words: dict[int, float] = {}
    drops: list[tuple[Row, str]] = []
    if context.surface not in BY_WORDS or not context.text:
        return scores, by_words, drops

    ranked = _ranked(index, context)
    if context.surface == BRIEF:
        scores = {number: score for number, score, _ in reversed(ranked)}

    misses = 0
    for number, score, way in ranked:
        if number in by_words:
            continue
        if len(by_words) == BY_WORDS[context.surface] or misses == NEAR_MISSES:
            break

        row = index.row(number)
        by = [*triggers.get(number, ()), (way, "")]
        floor = index.min_relevance
        if scores is not None and row.values[fields.GATE] == LINKED:
            floor = context.min_relevance  # rules have a floor of their own in briefs
        elif len(by_words) < WITHOUT_FLOOR[context.surface]:
            floor = 0.0

        if score < floor:
            misses += 1
            reason = "below relevance"
        else:
            reason = _drop_reason(row, context, by, scores)

        if not reason:
            by_words[number] = score
            triggers[number] = by
        elif number not in triggers:
            drops.append((row, reason))

    return scores, by_words, drops


def _ranked(index: "Index", context: Context) -> "list[tuple[int, float, str]]":
    """Return what the words of a text lead to: number, score and trigger, the best first."""
    # Tool calls, which most calls are, do without.
    from orbit_registry.hook.question import FEWEST, records_by_words, replaced_names

    ranked = []
    for name in replaced_names(context.text):
        for hit in index.hits_under(reader.REPLACED, name):
            ranked.append((hit >> 32, 1.0, f"{Via.SUPERSEDED}{name}"))

    fewest = FEWEST if context.surface == PROMPT else 1
    by_words = records_by_words(index, context.text, fewest)[:EXAMINED]
    return [*ranked, *_in_force(index, by_words)]


def _in_force(
    index: "Index", ranked: "Sequence[tuple[int, float]]"
) -> "Iterator[tuple[int, float, str]]":
    """Yield number, score and trigger of pushed records and of those that wait and that code cites,
    and of what replaced the others.
    """
    for number, score in ranked:
        if number < index.pushed:
            yield number, score, Via.TEXT
            continue

        row = index.row(number)
        if row.values[fields.PHASE] == "pending":
            yield number, score, Via.TEXT
            continue

        for hit in index.hits_under(reader.REPLACED, row.id):
            yield hit >> 32, score, f"{Via.SUPERSEDED}{row.id}"


def _find_options(
    index: "Index", context: Context, triggers: "Triggers", by_words: dict[int, float]
) -> dict[int, int]:
    text = context.text if context.surface in (PROMPT, BRIEF) else ""
    if not (text or context.names) or not index.has(reader.OPTIONS):
        return {}

    # Few projects' calls have use for it.
    from orbit_registry.hook.rejected_options import options_named

    options = options_named(index, text, context.names)
    for number in options:
        triggers.setdefault(number, []).append((Via.OPTION, ""))
        by_words[number] = 1.0

    return options


def _show_options(fitting: "list[Match]", options: "Mapping[int, int]") -> None:
    from orbit_registry.hook.rejected_options import option_line

    for match in fitting:
        position = options.get(match.row.number)
        if position is None:
            continue

        option, match.text = option_line(match.row, position)
        match.key = f"{match.key}.{position + 1}"
        chosen = {Via.OPTION: f"{Via.OPTION}{option}"}
        match.triggers = [(chosen.get(way, way), at) for way, at in match.triggers]


def _narrow(
    index: "Index",
    context: Context,
    triggers: "Triggers",
    scores: "Mapping[int, float] | None",
    by_words: "Mapping[int, float]" = NO_SCORES,
) -> "tuple[list[Match], list[tuple[Row, str]], int]":
    """Return the matches, the best by words first, the drops, and how many were not examined."""
    widths = _widths(context, triggers)
    numbers = _in_turn(context.surface, triggers, widths, by_words)
    has_places = context.surface in (TOOL, PROMPT)

    most = EXAMINED * (1 + len(context.categories))
    enough = ENOUGH
    if context.surface == BRIEF or context.per_call != PER_CALL:
        enough = most

    fitting: list[Match] = []
    drops: list[tuple[Row, str]] = []
    places = Places()
    for number in numbers[:most]:
        if len(fitting) >= enough:
            break

        row = index.row(number)
        ways = triggers[number]
        reason = _drop_reason(row, context, ways, scores)
        if not reason and has_places and not places.take(ways):
            reason = "broad"
        if reason:
            drops.append((row, reason))
            continue

        text = _text(row, ways, context.now)
        since = row.review_due(context.now)
        match = Match(row, ways, text, by_words.get(number, 0.0), since)
        match.width = widths[number]
        fitting.append(match)

    examined = len(fitting) + len(drops)
    return fitting, drops, len(numbers) - examined


def _widths(context: Context, triggers: "Triggers") -> dict[int, int]:
    """Return how wide each scope is: by its files, or whether wide globs alone lead to a file."""
    if context.surface in (TOOL, PROMPT):
        return {number: int(is_by_wide_globs(ways)) for number, ways in triggers.items()}

    return {number: context.widths.get(number, UNKNOWN_WIDTH) for number in triggers}


def _in_turn(
    surface: str,
    triggers: "Triggers",
    widths: "Mapping[int, int]",
    by_words: "Mapping[int, float]",
) -> list[int]:
    """Return the records in the order in which they are examined."""

    def turn(number: int) -> tuple[bool, bool, float, int, int]:
        ways = triggers[number]
        is_last = False
        if surface == BRIEF:
            is_last = is_anywhere(ways)
        elif surface == SESSION:  # what must always be known is first
            is_last = not is_anywhere(ways)

        return is_last, is_cited_only(ways), -by_words.get(number, 0.0), widths[number], number

    return sorted(triggers, key=turn)


class Places:
    """Places that each path has for records of wide globs: the first in push order get them."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}

    def take(self, triggers: "Sequence[tuple[str, str]]") -> bool:
        """Say whether a record is shown; one that only wide globs lead to takes a place."""
        if not is_by_wide_globs(triggers):
            return True

        paths = [path for path, _ in triggers]
        has_place = any(self._taken.get(path, 0) < WIDE_PLACES for path in paths)
        for path in paths if has_place else ():
            self._taken[path] = self._taken.get(path, 0) + 1

        return has_place


def is_by_wide_globs(triggers: "Sequence[tuple[str, str]]") -> bool:
    """Say whether nothing but wide globs leads to a record; `at` of a path is its hit."""
    return all(way[0] == Via.PATH and is_wide(int(at)) for way, at in triggers)


def is_wide(hit: int) -> bool:
    """Say whether the glob of a hit is wide."""
    return bool(hit & reader.WIDE)


def _text(row: "Row", triggers: "Sequence[tuple[str, str]]", now: float) -> str:
    """Return what is shown of a record other than its teaser; empty if that is shown."""
    text = _pointer_line(row, now)
    names = [trigger[1:] for trigger, _ in triggers if trigger[0] == Via.SUPERSEDED]
    if names:
        first, line_end, more = (text or row.teaser).partition("\n")
        text = f"{first} ({names[0]} was superseded by it){line_end}{more}"
    return text


def _pointer_line(row: "Row", now: float) -> str:
    """Return the line for a record that may be out of date or is not accepted.

    It is empty if the record's teaser is shown. Of what waits, a decision that code cites is shown.
    """
    path = row.values[fields.PATH]
    if row.values[fields.PHASE] == "pending":
        first, _, more = row.teaser.partition(fields.MORE_LINE)
        status = f"{row.values[fields.STATUS]}, not decided"
        if row.values[fields.STATUS] == "unknown":
            status = "no known status, so it may not hold"

        return f"{first} ({status}: {more or path})"

    if row.values[fields.ENFORCED]:  # the gate sees to it: its name is enough
        first, _, _ = row.teaser.partition("\n")
        return f"{first} (enforced by {', '.join(row.words(fields.ENFORCED))})"

    cause = row.doubt(now)
    if cause:
        return f"- [{row.id}] may be out of date ({cause}): {path}"

    return ""


def bar_reason(row: "Row", now: float, project: str) -> str:
    """Return why a record is left out everywhere; empty if it is not."""
    if row.flags & fields.UNTRUSTED:
        return "untrusted"
    if row.is_expired(now):
        return "expired"
    if is_other_project(row.values[fields.PROJECT], project):
        return "project"
    return ""


def _ways(triggers: "Sequence[tuple[str, str]]") -> set[str]:
    return {trigger[0] for trigger, _ in triggers}


def _drop_reason(
    row: "Row",
    context: Context,
    triggers: "list[tuple[str, str]]",
    scores: "Mapping[int, float] | None" = None,
) -> str:
    if reason := bar_reason(row, context.now, context.project):
        return reason

    if reason := _audience_reason(row, context):
        return reason

    by = _ways(triggers)
    gate = row.values[fields.GATE]
    procedural = row.flags & fields.PROCEDURAL or gate == "procedural"
    if procedural and by.isdisjoint((Via.ERROR, Via.COMMAND)) and not context.writes_code:
        return "procedural"
    is_about_path = not by.isdisjoint((Via.PATH, Via.CITES))
    if gate == BY_PATH and not is_about_path and (Via.PROJECT, "") not in triggers:
        return "planning"
    if gate == LINKED and not _is_relevant_rule(row, context, triggers, by, scores):
        return "rule"

    if procedural and row.doubt(context.now):
        return "stale"

    return ""


def _audience_reason(row: "Row", context: Context) -> str:
    """Return why a record is not for this agent, task or text; empty if it is."""
    agents = row.words(fields.AGENTS)
    if context.agent and agents and context.agent not in agents:
        return "agent"

    tasks = row.words(fields.TASKS)
    if context.task and tasks and context.task not in tasks:
        return "task"

    category = row.values[fields.CATEGORY]
    if context.categories and category and category not in context.categories:
        return "category"

    if not context.text:
        return ""

    text = context.text.casefold()
    if any(word.casefold() in text for word in row.words(fields.ANTI_CONTEXTS)):
        return "anti-context"

    contexts = row.words(fields.CONTEXTS)
    if contexts and not any(word.casefold() in text for word in contexts):
        return "context"

    return ""


def _is_relevant_rule(
    row: "Row",
    context: Context,
    triggers: "list[tuple[str, str]]",
    by: set[str],
    scores: "Mapping[int, float] | None",
) -> bool:
    direct = not by.isdisjoint((Via.PATH, Via.LINK, Via.SUPERSEDED, Via.FORBIDDEN, Via.CITES))
    if scores is None:
        return direct

    is_own = bool(context.project) and row.values[fields.PROJECT] == context.project
    led = direct or is_own or Via.TAG in by or (Via.PROJECT, "") in triggers
    return led and scores.get(row.number, 0.0) >= context.min_relevance


def linked_rules(
    index: "Index", rows: "Sequence[Row]", returned: "Mapping[str, Sequence[str]]"
) -> "Triggers":
    """Return the rules linked in either direction with some rows or `returned` ids.

    Each of these ids has its links.
    """
    here = {row.number for row in rows}
    is_linking = bool(index.hits_under("l", ""))
    linking = [(row.id, row.words(fields.LINKS)) for row in rows]

    leading: Triggers = {}
    for record_id, targets in (*linking, *returned.items()):
        hits = []
        for target in targets:
            hits += index.hits_under("i", target)
        if is_linking:
            hits += index.hits_under("l", record_id)

        for number in dict.fromkeys(hit >> 32 for hit in hits):
            if number not in here:
                leading.setdefault(number, []).append((f"{Via.LINK}{record_id}", ""))

    return leading


def standing_reason(row: "Row", now: float) -> str:
    """Return why a record can't be in a file that an agent loads by path alone; empty if it can."""
    if reason := _drop_reason(row, Context(BRIEF, now), [(Via.PATH, "")]):
        return reason
    if row.doubt(now):
        return "stale"

    phase = row.values[fields.PHASE]
    if phase == "live":
        return ""

    return phase


MIN_CHARACTERS = 4
"""Fewest characters of a pattern, stars and spaces aside: a shorter one is in nearly any text."""
LONGEST_ERROR = 16_000
"""Characters of an error that are searched: of a longer one the beginning and the end."""
AXIS = "e"


def folded(text: str) -> str:
    """Return a text as error patterns are compared: folded case, single spaces."""
    return " ".join(text.casefold().split())


def compiled_pattern(pattern: str) -> str:
    """Return a pattern as the index holds it; empty if it is too short."""
    text = folded(pattern).strip("* ")
    if sum(character not in "* " for character in text) >= MIN_CHARACTERS:
        return text

    return ""


def contains_pattern(pattern: str, text: str) -> bool:
    """Say whether a folded text contains a pattern; `*` is anything: `a * b` is found in `a b`."""
    at = 0
    for piece in map(str.strip, pattern.split("*")):
        at = text.find(piece, at)
        if at < 0:
            return False
        at += len(piece)

    return True


def error_matches(index: "Index", error: str) -> "Iterator[tuple[int, str]]":
    """Yield the number and the pattern of each pushed record whose pattern an error contains."""
    if len(error) > LONGEST_ERROR:
        error = f"{error[: LONGEST_ERROR // 2]} {error[-LONGEST_ERROR // 2 :]}"

    text = folded(error)
    for pattern, hits in index.lookup(AXIS)[1].items():
        if not contains_pattern(pattern, text):
            continue

        for hit in hits:
            if hit < index.pushed << 32:
                yield hit >> 32, pattern
