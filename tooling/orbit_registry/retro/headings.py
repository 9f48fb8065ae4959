"""Says which part of a retro a heading in somebody's own words begins: a table; it reads no document."""

from __future__ import annotations

import re

_PARTS = {
    "summary": ("summary", "what happened"),
    "outcomes": ("outcomes", "story outcomes", "targets"),
    "worked": (
        "worked", "what worked", "what worked well", "went well", "what went well", "what went right", "what was good",
        "good", "wins", "successes", "keep", "keep doing", "continue", "continue doing", "what to keep",
        "what should we keep", "what should we keep doing", "what should we continue doing", "liked", "glad",
    ),
    "struggled": (
        "struggled", "what struggled", "what did not work", "went badly", "what went badly",
        "went wrong", "what went wrong", "what went poorly", "what did not go well",
        "what went less well", "what could have gone better", "what was bad", "bad", "problems", "sad", "mad",
    ),
    "durable_behavior": (
        "durable behavior", "durable behaviour", "from now on", "codebase patterns", "lessons", "lessons learned",
        "lessons learnt", "what we learned", "what we learnt", "what did we learn", "learned", "learnings", "takeaways",
        "key takeaways",
    ),
    "recommendations": (
        "recommendations", "action items", "actions", "action plan", "next steps", "follow up", "follow ups",
        "what could be better", "what could be improved", "what can be improved", "what should we improve",
        "what to improve", "improve", "improvements", "to improve",
        "stop", "stop doing", "what should we stop doing", "what to stop",
        "start", "start doing", "what should we start doing", "what to start",
    ),
}  # fmt: skip
_PART_OF = {heading: part for part, headings in _PARTS.items() for heading in headings}
_VERBS = {"stop": "Stop", "start": "Start"}
"""Words that an item loses its sense without: `merging on Fridays` below `Stop`."""


def part_of(heading: str) -> str:
    """Return the part that a heading begins, such as `worked`; empty where it is of none.

    Case, pictures, marks and a number in front count for nothing: `1. What didn't go well? 😕` is `struggled`.
    """
    return _PART_OF.get(_words(heading), "")


def verb_of(heading: str) -> str:
    """Return the word that has to stand before each item of a section: `Stop`, `Start`, or none."""
    words = _words(heading).split() if part_of(heading) else []
    return next((_VERBS[word] for word in words if word in _VERBS), "")


def _words(heading: str) -> str:
    bare = re.sub(r"n['’]t\b", " not", heading.casefold())
    return re.sub(r"^\d+ (?=[^\W\d])", "", " ".join(re.findall(r"[^\W_]+", bare)))
