"""ORB930: the next item of a loop was dispatched before anybody looked back on the one before it."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.checks.loop.log import Logged
from orbit_registry.push.events import DISPATCHED, RETRO
from orbit_registry.records.diagnostic import Diagnostic, Severity


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each dispatch of an item where another item of its loop was dispatched since the last retro."""
    before: dict[str, Logged] = {}
    for one in context.loop.of(DISPATCHED, RETRO) if context.loop is not None else ():
        if one.name == RETRO:
            trigger = one.word("trigger").partition(":")
            about = trigger[2] if trigger[0] == "loop" else ""
            named = (about, about.rpartition(":")[2])  # with the project that it is of, or without
            before = {loop: item for loop, item in before.items() if about and loop and loop not in named}
            continue
        item, loop = one.word("item"), one.word("loop")
        other = before.get(loop)
        if item and other is not None and other.word("item") != item:
            yield CHECK.at(
                one.place,
                f"{item} was dispatched, and nobody had looked back on {other.word('item')}",
                related=(other.place,),
            )
        if item:
            before[loop] = one


CHECK = Check(
    "ORB930",
    "item-without-retro",
    Severity.ERROR,
    "The next item of a loop was dispatched before a retro of the one before it.",
    "no retro, no next item: run `orbit retro` when an item ends, and this check before the next one",
    run,
)
