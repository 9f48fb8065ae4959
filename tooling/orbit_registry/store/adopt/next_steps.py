"""Says what to do with each document that an adoption leaves out: one table, by the reason; it reads none."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator

from orbit_registry.errors import OrbitError
from orbit_registry.store.outcome import Outcome
from orbit_registry.text.adr.doubts import OF_ITS_PLACE

_RENAME = "nothing to do; where it is a decision, rename it"
_LATER = "the next `orbit adr backfill` makes it once that decision has a record"
_BY_HAND = "`orbit link`, or `orbit adr supersede`, makes it by hand"
_STEPS = {
    "empty": "nothing to do until it is written",
    "a template": _RENAME,
    "a template, by its title": "nothing to do; where it is a decision, give it a title of its own",
    "an index or a guide, by its name": _RENAME,
    "no status and no section that holds a decision": (
        "nothing to do; where it is a decision, a section `## Decision` in it makes it one"
    ),
    "it holds no decision": "nothing to do; where it is one, a section `## Decision` in it makes it one",
    "a symbolic link": "nothing to do; the document is read where it stands",
    "it is outside this repository": "nothing to do; the record keeps it",
    "no decision is there": _LATER,
    "no decision has that number or name": _LATER,
    "the link's target holds several decisions": _BY_HAND,
    "the number is that of several decisions": _BY_HAND,
    "several decisions have that name": _BY_HAND,
    **dict.fromkeys(OF_ITS_PLACE, "where it is a decision, `orbit import` with the file's own name takes it over"),
}
_OF_EXPERIENCE = re.compile(
    r"(?:^|.*[/_. -])(?:lessons[-_ ]learn(?:ed|t)|learnings|post[-_]?mortems?|retro(?:spective)?s?|runbooks?)[/_. -].*$"
    r"|(?:.*/)?lessons\.md$",
    re.IGNORECASE,
)
"""How people name what they have learned, what failed and what to do then: `LESSONS.md`, `docs/postmortems/`."""
_DECIDES_NOTHING = ("no status and no section", "it holds no decision", "a status, as pages")
"""Parts of the reasons for which a document that could be read is left."""


def with_step(reason: str, which: str = "") -> str:
    """Return why a document was left out, `which` others it is about, and what to do, where the reason says that."""
    step = _STEPS.get(reason)
    return f"{reason}{which}; {step}" if step else f"{reason}{which}"


def of_error(error: OrbitError, path: str, root: str) -> str:
    """Return why a document can't be read, without the place of the project on this machine, and what to do."""
    said = error.message.replace(root, "").removeprefix(f"{path}:").strip()
    return f"{said}; {error.hint}" if error.hint else said


def ways_to_learn(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """Yield how to go on with lessons, postmortems, retrospectives and runbooks: they are records of other kinds."""
    left = [one for one in outcomes if one.what == "left" and _OF_EXPERIENCE.match(one.source)]
    found = [one.source for one in left if any(reason in one.reason for reason in _DECIDES_NOTHING)]
    if found:
        first = shlex.quote(min(found, key=lambda path: path.count("/")))
        others = f" and {len(found) - 1} more" if len(found) > 1 else ""
        yield (
            f"{first}{others}: lessons, postmortems or runbooks, by their names; `orbit learning add` writes down what "
            f"holds, `orbit import doc {first}` keeps one findable as it is"
        )
