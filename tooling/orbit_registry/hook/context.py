"""Request and result of a selection, as values, with the reasons for leaving records out."""

from orbit_registry.hook.environment import variable

TYPE_CHECKING = False  # `typing` is too much to import here
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from orbit_registry.hook.index import Row

PER_CALL, PER_SESSION = 5, 20
WIDE_PLACES = PER_SESSION // 2
"""Most records of a file that only wide globs lead to: half of what a session may be shown."""
TOKENS, NAMED_TOKENS, PROCEDURAL_TOKENS, FRAME_TOKENS = 1000, 800, 200, 80
"""Most tokens of a reply, of one with titles, of procedural records, and of the frame."""
START_TOKENS = 220
"""Most tokens of a session's start, without the line that says how many records there are more."""
FEW = 2  # most records that apply of which a reply says more than the headline
CITED = 2  # most records that a file leads to by its citations alone
TRIAL = "trial-"
"""Prefix of the made-up sessions of trials: they have no hold-out, and count nowhere."""
ASKS_AT_STOP, NOTES_TURNS, CAPTURES = 1, 2, 4
"""Bits of the settings `loop.ask_at_stop`, `loop.note_turns` and `capture.at_session_end`."""
CODE = "code"  # class of tasks that write code; an empty class is unknown
TOOL, PROMPT, SESSION, BRIEF = "tool", "prompt", "session", "brief"
"""Surfaces: a tool call, a prompt, the start of a session, a brief."""

PROJECT_VARIABLE = b"ORBIT_PROJECT"
MIN_RELEVANCE = 0.05  # default of the score, from 0 to 1, that a text needs for a rule
DROPS = {
    "untrusted": "the default branch has another version of it",
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
SKIPS = {
    "nothing asked": "no path of this project, no tag, no text and no error was named",
    "no index": "there is no push index that can be used",
    "no match": "no record applies",
    "narrowed": "records apply, and each was left out for another reason",
    "already shown": "the session has all that apply",
    "withheld": "this session does without all that apply, to measure what showing them does",
    "capped": "the session has seen its share, or nothing fits into a reply",
    "too large": "the payload is larger than is read",
    "deadline": "there was no time left",
}
"""All reasons for showing nothing."""


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


class Via:
    """First characters of triggers, before the path and so on; then triggers without a value."""

    PATH, TAG, CATEGORY = "/", "#", "@"
    COMMAND, ERROR = "$", "~"  # a command by its purpose, an error by a pattern
    LINK, OPTION = "=", "!"  # a shown record that is linked with it, an option that it rejected
    SUPERSEDED = "<"  # a closed record whose place it took
    CITES = "^"  # a file that cites it, or a closed record whose place it took
    FORBIDDEN = "%"  # a word that its check forbids
    START, TEXT, PROJECT = "start", "text", "project"


TRIGGERS = {
    Via.PATH: "path",
    Via.TAG: "tag",
    Via.CATEGORY: "category",
    Via.ERROR: "error",
    Via.LINK: "link",
    Via.COMMAND: "command",
    Via.OPTION: "option",
    Via.SUPERSEDED: "superseded",
    Via.FORBIDDEN: "forbidden",
    Via.CITES: "cites",
}


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


def is_anywhere(triggers: "Iterable[tuple[str, str]]") -> bool:
    """Say whether a record is in every brief and nothing else leads to it.

    Such records come after the others.
    """
    return all(trigger == Via.START for trigger, _ in triggers)


def is_cited_only(triggers: "Iterable[tuple[str, str]]") -> bool:
    """Say whether nothing but the citations of a file leads to a record.

    Such records come after those of paths and tags.
    """
    ways = {trigger[0] for trigger, _ in triggers}
    return Via.CITES in ways and ways <= {Via.CITES, Via.SUPERSEDED}
