"""Words for what reaches an agent: moments, caps, gates, routes, and reasons for silence.

The hook loads this at every call, so it imports nothing.
"""

TYPE_CHECKING = False  # `typing` is too much to import here
if TYPE_CHECKING:
    from collections.abc import Iterable

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
CODE = "code"  # class of tasks that write code; an empty class is unknown
TOOL, PROMPT, SESSION, BRIEF = "tool", "prompt", "session", "brief"
"""Surfaces: a tool call, a prompt, the start of a session, a brief."""

ALWAYS, BY_PATH, LINKED = "always", "path", "relevant_and_linked"
"""Gates of kinds: shown at every start; only by its paths; only if relevant and led to."""

MIN_RELEVANCE = 0.05  # default of the score, from 0 to 1, that a text needs for a rule
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
