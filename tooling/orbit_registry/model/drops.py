"""Why a record that something leads to is not shown, as sentences."""

from orbit_registry.model.reach import (
    CITED,
    PER_CALL,
    PER_SESSION,
    PROCEDURAL_TOKENS,
    TOKENS,
    WIDE_PLACES,
)

DROPS = {
    "untrusted": "the default branch does not have it, or has another version of it",
    "expired": "its time is over",
    "stale": "it may be out of date, and a line that says so would not help",
    "gone": "its file is gone since the last sync",
    "broad": (
        f"only wide globs lead to it, and {WIDE_PLACES} such records come first: a session's start "
        "and briefs show it; a narrower glob or a vote brings it here"
    ),
    "project": "it is for another project",
    "agent": "it is for other agents",
    "task": "it is for other tasks",
    "category": "the agent gets other categories",
    "context": "the task's text names none of its contexts",
    "anti-context": "the task's text names a context that it excludes",
    "procedural": (
        "it is about how to work: the task writes no code, and its command or error did not occur"
    ),
    "below relevance": (
        "the words of the prompt or task match it less than `push.min_relevance` requires"
    ),
    "planning": (
        "it names a target, which concerns planning: elsewhere only a path of its scope shows it"
    ),
    "version": "another version of it is shown, or a record that replaces or extends it",
    "rule": (
        "it is a rule that does not match the text, or no path, tag, project or shown "
        "record leads to it"
    ),
    "already shown": "this session has it",
    "already named": "this session has its title",
    "withheld": "this session does without it, to measure what showing it does",
    "citation cap": f"a file shows {CITED} of those that it cites at a time",
    "call cap": f"{PER_CALL} are shown at a time",
    "session cap": f"{PER_SESSION} are shown in a session",
    "category cap": "an agent gets a few of each category",
    "token cap": (
        f"a reply has at most {TOKENS} tokens, {PROCEDURAL_TOKENS} of them procedural, unless "
        "configured otherwise; in a brief each kind has its own limit"
    ),
}
"""All reasons for not showing a record that something leads to."""
