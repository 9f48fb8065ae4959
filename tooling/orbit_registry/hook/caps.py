"""Says how many of the records that fit are shown, and in which order; loaded only where there are any.

Caps and budgets see records in rank, whatever their kind; what is left stands in the order of kinds.
"""

from orbit_registry.hook.context import (
    FRAME_TOKENS,
    PER_SESSION,
    PROCEDURAL_TOKENS,
    Context,
    Match,
    Selection,
    is_anywhere,
)
from orbit_registry.hook.index import CATEGORY, GONE, ID, KIND, PATH, PLACE, PROCEDURAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from orbit_registry.hook.index import Row


def apply_caps(
    context: Context,
    fitting: list[Match],
    linked: list[Match],
    drops: "list[tuple[Row, str]]",
    beyond: int,
    shown_ids: "Iterable[str]",
    difference: "Callable[[Row], str]",
) -> Selection:
    """Return what is shown: a linked record only beside one that leads to it, or after the session has seen that.

    `difference` says how a record's file differs from the one that the index was made from: a changed one is a line
    that names it, one that is gone is not shown.
    """
    already_shown = set(shown_ids)
    every = linked
    while True:
        numbers = {match.row.number for match in linked}
        remaining = [drop for drop in drops if drop[0].number not in numbers]
        offered = sorted([*fitting, *linked], key=_rank) if linked else fitting
        selection = _within_caps(context, offered, remaining, beyond, already_shown, difference)
        visible = already_shown.union(context.returned, (match.row.values[ID] for match in selection.matches))
        led = [match for match in linked if _is_linked(match, visible)]
        if len(led) == len(linked):
            # One that took the room of the record which leads to it waits now that this record is shown.
            cut = [match.row for match in every if match not in linked and _is_linked(match, visible)]
            cut = [row for row in cut if row.values[ID] not in already_shown]
            selection.omitted += len(cut)
            selection.drops = [drop for drop in selection.drops if drop[0] not in cut] + [
                (row, "call cap") for row in cut
            ]
            selection.matches.sort(key=lambda match: (int(match.row.values[PLACE] or 0), match.row.number))
            return selection
        linked = led


def _is_linked(match: Match, visible: "set[str]") -> bool:
    return any(trigger[0] == "=" and trigger[1:] in visible for trigger, _ in match.triggers)


def _rank(match: Match) -> tuple[bool, int]:
    return is_anywhere(match.triggers), match.row.number


def _within_caps(
    context: Context,
    fitting: list[Match],
    drops: "list[tuple[Row, str]]",
    beyond: int,
    shown_ids: "Iterable[str]",
    difference: "Callable[[Row], str]",
) -> Selection:
    """Return the first records in rank that the session does not have and that caps and budgets leave room for."""
    already_shown = set(shown_ids)
    room = PER_SESSION - len(already_shown)
    remaining, procedural = context.tokens - FRAME_TOKENS, PROCEDURAL_TOKENS
    of_category: dict[str, int] = {}
    budgets = dict(context.budgets)
    matches: list[Match] = []
    omitted = beyond
    for choice in fitting:
        row = choice.row
        cost = tokens(choice.text) + 1  # its line's end
        of_these = cost if row.flags & PROCEDURAL else 0
        category = row.values[CATEGORY]
        if row.values[ID] in already_shown:
            drops.append((row, "already shown"))
            continue
        if context.per_call and len(matches) >= context.per_call:
            drops.append((row, "call cap"))
        elif len(matches) >= room:
            drops.append((row, "session cap"))
        elif category and context.per_category and of_category.get(category, 0) >= context.per_category:
            drops.append((row, "category cap"))
        elif cost > remaining or of_these > procedural or cost > budgets.get(row.values[KIND], cost):
            drops.append((row, "token cap"))
        elif (differs := difference(row)) == GONE:
            drops.append((row, "gone"))
            continue
        else:
            if differs:
                choice.text = f"- [{row.values[ID]}] has changed since it was read: {row.values[PATH]}"
            already_shown.add(row.values[ID])  # ids may repeat where branches met
            matches.append(choice)
            remaining -= cost
            procedural -= of_these
            if row.values[KIND] in budgets:
                budgets[row.values[KIND]] -= cost
            of_category[category] = of_category.get(category, 0) + 1
            continue
        omitted += 1
    if matches:
        return Selection(matches, omitted, drops)
    known_already = any(reason == "already shown" for _, reason in drops)
    return Selection([], omitted, drops, "capped" if omitted else "already shown" if known_already else "narrowed")


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
