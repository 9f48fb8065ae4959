"""Request and result of a selection, as values."""

from orbit_registry.hook.environment import variable
from orbit_registry.model.reach import (
    CODE,
    MIN_RELEVANCE,
    PER_CALL,
    PROMPT,
    SESSION,
    START_TOKENS,
    TOKENS,
)

TYPE_CHECKING = False  # `typing` is too much to import here
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orbit_registry.model.fields import Row

ASKS_AT_STOP, NOTES_TURNS, CAPTURES = 1, 2, 4
"""Bits of the settings `loop.ask_at_stop`, `loop.note_turns` and `capture.at_session_end`."""
PROJECT_VARIABLE = b"ORBIT_PROJECT"


def working_project(requested: str = "") -> str:
    """Return the project of a monorepo in which the work is.

    It is the requested one, else `ORBIT_PROJECT`, else none.
    """
    return requested or variable(PROJECT_VARIABLE)


def is_other_project(record_project: str, project: str) -> bool:
    """Say whether a record's project differs from the current one, if both are known."""
    return bool(record_project and project and record_project != project)


class Context:
    """Request of a selection; paths count from the project's root, `now` in seconds since 1970."""

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
        purposes: "Sequence[str]" = (),
        project: str = "",
        min_relevance: float = MIN_RELEVANCE,
        categories: "Sequence[str]" = (),
        per_category: int = 0,
        per_call: int = PER_CALL,
        tokens: int = TOKENS,
        returned: "Mapping[str, Sequence[str]] | None" = None,
        budgets: "Mapping[str, int] | None" = None,
        widths: "Mapping[int, int] | None" = None,
        names: "Sequence[str]" = (),
    ) -> None:
        """Take the request.

        `categories` are an agent's: each leads to its records, and records of others are left out.
        `purposes` are those of a command, `names` packages and modules that are about to be added.
        `breaks`: key, word and line of each record, by number, that forbids a word in a new text.
        `per_category` and `per_call` of 0 are no cap; `tokens` are those of the whole reply,
        `budgets` those of a kind's records. `returned` are ids that the surface answers with
        anyway, each with its links: they lead to rules as shown records do. `widths` are the
        numbers of files in the scopes of records: where given, narrow ones come first.
        """
        self.surface = surface
        self.now = now
        self.project = project
        self.agent = agent
        self.task, self.task_class = task, task_class

        self.paths = paths
        self.tags = tags
        self.text, self.error = text, error
        self.purposes, self.names = purposes, names
        self.breaks: Mapping[int, tuple[str, str, str]] = {}
        self.earlier: Sequence[Match] = ()
        self.earlier_tokens = 0
        """What the same reply shows already, and its tokens: both count for the caps of a call."""

        self.returned = returned or {}

        self.min_relevance = min_relevance
        self.categories, self.per_category = categories, per_category
        self.per_call = per_call
        self.tokens = min(tokens, START_TOKENS) if surface == SESSION else tokens
        self.budgets = budgets or {}
        self.widths = widths or {}
        self._writes_code: bool | None = None

    @property
    def writes_code(self) -> bool:
        """Whether the task is work on code, so that records about how to work help.

        A caller may know the class of the task, as a brief does; of a prompt its words say.
        Unsure is no.
        """
        if self._writes_code is None:
            self._writes_code = self.task_class == CODE
            if self.surface == PROMPT and self.text and not self.task_class:
                from orbit_registry.hook.task_class import classify

                self._writes_code = classify(self.text).writes_code

        return self._writes_code


class Match:
    """A record that applies; `triggers` are pairs of what led to it and the glob, `text` is shown.

    What led to it is one of `Via`, most of them with a value behind. `score` is above 0 where the
    words of a prompt or task led to it: these come first. `width` is the number of files in its
    scope, 0 where it does not count. `key` is what the session's log has of it: the id, with a
    position behind it where a rejected option is shown. `since` is when a review became due.
    """

    def __init__(
        self,
        row: "Row",
        triggers: "list[tuple[str, str]]",
        text: str = "",
        score: float = 0.0,
        since: str = "",
    ) -> None:
        self.row = row
        self.key = row.values[0]
        self.triggers = triggers
        self.teaser = with_review(row.teaser, since)
        self.text = with_review(text, since) if text else self.teaser
        self.score = score
        self.width = 0

    @property
    def title(self) -> str:
        """The first line of its text."""
        return self.text.partition("\n")[0]


def with_review(text: str, since: str) -> str:
    """Return a record's text whose headline says since when a review is due, if one is."""
    if not since:
        return text

    first, line_end, more = text.partition("\n")
    return f"{first} (review due since {since}){line_end}{more}"


class Selection:
    """Records to show; `named` are dropped ones named by title, `withheld` ids in the hold-out."""

    def __init__(
        self,
        matches: "list[Match]",
        omitted: int,
        drops: "list[tuple[Row, str]]",
        skip_reason: str = "",
    ) -> None:
        self.matches = matches
        self.omitted = omitted
        self.others = 0  # at a session's start: records that it shows nothing of
        self.drops = drops
        self.skip_reason = skip_reason

        self.named: list[Match] = []
        self.withheld: list[str] = []
        self.is_introduced = False
