"""What the chooser is asked and what it answers, as values, with the words for both; it chooses nothing.

Built-in modules only: every call of a hook loads it.
"""

import posix

TYPE_CHECKING = False  # `typing` is too much to import here
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from orbit_registry.hook.index import Row

PER_CALL, PER_SESSION = 5, 20
TOKENS, PROCEDURAL_TOKENS, FRAME_TOKENS = 1000, 200, 80
"""The most tokens of a whole reply, of procedural records in it, and what of it is kept for the frame around them."""
TRIAL = "trial-"
"""How sessions begin that trying the hook makes up; they do without nothing, and count nowhere."""
ASKS_AT_STOP, NOTES_TURNS, CAPTURES = 1, 2, 4
"""Settings that the hook needs, as bits: `loop.ask_at_stop`, `loop.note_turns`, `capture.at_session_end`."""
CODE = "code"
"""The class of tasks that write code. An empty class means that nobody knows."""
TOOL, PROMPT, SESSION, BRIEF = "tool", "prompt", "session", "brief"
"""Surfaces: a tool is about to run; a prompt was given; a session starts; somebody asked for a brief."""

PROJECT_VARIABLE = b"ORBIT_PROJECT"
MIN_RELEVANCE = 0.05
"""How well a text has to fit a rule, from 0 to 1, where the configuration says nothing else."""
DROPS = {
    "untrusted": "it is not what the default branch holds",
    "expired": "its time is over",
    "stale": "it may be out of date, and a line that says so would not help",
    "gone": "its file is gone since the last sync",
    "broad": "it applies to more than a fifth of all files: shown when a session starts, and in briefs",
    "project": "it holds for another project",
    "agent": "it names other agents",
    "task": "it names other tasks",
    "category": "its category is none of the agent's",
    "context": "it holds in contexts that the task's text does not name",
    "anti-context": "the task's text names a context in which it does not hold",
    "procedural": "it is about how work is done, and this is not known to be work on code",
    "rule": "it is a rule that does not fit the text, or that no path, tag, project or shown record leads to",
    "already shown": "this session has it",
    "withheld": "this session does without it, to measure what showing it does",
    "call cap": f"{PER_CALL} are shown at a time",
    "session cap": f"{PER_SESSION} are shown in a session",
    "category cap": "an agent gets a few of each category",
    "token cap": f"a reply has {TOKENS} tokens where nothing else is said, {PROCEDURAL_TOKENS} of them procedural, "
    "and in a brief each kind its own",
}
"""Why a record that has a way in is not shown: all reasons there are."""
SKIPS = {
    "nothing asked": "no path of this project, no tag, no text and no error was named",
    "no index": "there is no push index that can be used",
    "no match": "no record applies",
    "narrowed": "records apply, and each was left out for a reason of its own",
    "already shown": "the session has all that apply",
    "withheld": "this session does without all that apply, to measure what showing them does",
    "capped": "the session has seen its share, or nothing fits into a reply",
    "too large": "the payload is larger than is read",
    "deadline": "there was no time left",
}
"""Why a dispatch shows nothing: all reasons there are."""


def working_project(requested: str = "") -> str:
    """Return which of a repository's projects the work is of: what is said of it, else what `ORBIT_PROJECT` says.

    Empty where nobody knows: then no record is left out for its project. The configuration's `project` names the whole
    repository, so that it says nothing of the one at hand.
    """
    return requested or posix.environ.get(PROJECT_VARIABLE, b"").decode("utf-8", "surrogateescape")


def is_other_project(record_project: str, project: str) -> bool:
    """Say whether a record's project is another than the one at hand."""
    return bool(record_project and project and record_project != project)


class Context:
    """What is known where something is about to be done; paths count from the project's root, `now` from 1970."""

    __slots__ = (
        "agent", "budgets", "categories", "error", "min_relevance", "now", "paths", "per_call", "per_category",
        "project", "returned", "search", "surface", "tags", "task", "task_class", "text", "tokens",
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
        error: str = "",
        project: str = "",
        search: "Callable[[str], Iterable[tuple[str, float]]] | None" = None,
        min_relevance: float = MIN_RELEVANCE,
        categories: "Sequence[str]" = (),
        per_category: int = 0,
        per_call: int = PER_CALL,
        tokens: int = TOKENS,
        returned: "Mapping[str, Sequence[str]] | None" = None,
        budgets: "Mapping[str, int] | None" = None,
    ) -> None:
        """`search` returns paths of records for a text, with scores from 0 to 1, the best first; only surfaces that
        have one give it. `error` is what a tool that failed said.

        `categories` are those of an agent: each leads to its records, and records of other categories are left out,
        whatever else leads to them. Empty, nothing is narrowed. `per_category` and `per_call` of 0 are no cap; `tokens`
        are those of the whole reply, `budgets` those of a kind's records together, by its name. `returned` are ids of
        records that the surface answers with by itself, each with the ids it is linked with: they lead to rules as
        shown ones do.
        """
        self.surface, self.now, self.paths, self.tags, self.error = surface, now, paths, tags, error
        self.agent, self.task, self.task_class, self.project = agent, task, task_class, project
        self.text, self.search, self.min_relevance = text, search, min_relevance
        self.categories, self.per_category, self.per_call, self.tokens = categories, per_category, per_call, tokens
        self.returned, self.budgets = returned or {}, budgets or {}


class Match:
    """A record that applies; `triggers` are pairs of what was asked and the glob, `text` is what is said of it.

    What was asked is a key of `TRIGGERS` and what it says, or `text`, `project` or `start`.
    """

    __slots__ = ("row", "text", "triggers")

    def __init__(self, row: "Row", triggers: "list[tuple[str, str]]", text: str = "") -> None:
        self.row, self.triggers, self.text = row, triggers, text or row.teaser


TRIGGERS = {"/": "path", "#": "tag", "@": "category", "~": "error", "=": "link"}
"""How the way in begins that a path of the project, a tag, a category, a pattern of errors or a shown record is."""


class Selection:
    """What is shown, how many records wait for another call, and what else applied with the reason it was left out.

    `withheld` are ids of those that would have been shown, had the lot not fallen on them.
    """

    __slots__ = ("drops", "matches", "omitted", "skip_reason", "withheld")

    def __init__(
        self, matches: "list[Match]", omitted: int, drops: "list[tuple[Row, str]]", skip_reason: str = ""
    ) -> None:
        self.matches, self.omitted, self.drops, self.skip_reason = matches, omitted, drops, skip_reason
        self.withheld: list[str] = []


def is_anywhere(triggers: "Iterable[tuple[str, str]]") -> bool:
    """Say whether a record is in every brief, and nothing of this task leads to it.

    Such a record is looked at after those that something leads to: a few of them would fill the caps.
    """
    return all(trigger == "start" for trigger, _ in triggers)
