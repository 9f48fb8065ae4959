"""Fields of a record as an agent's index has them, and the record read from them.

The hook loads this at every call, so it imports nothing.
"""

EXCLUDES, BROAD, EXPIRES, PROCEDURAL, DOUBTED, UNTRUSTED = 1, 2, 4, 8, 16, 32

(  # fields of a row
    ID,
    KIND,
    STATUS,
    PHASE,
    PATH,
    MTIME,
    SIZE,
    ORIGIN,
    TEASER,
    CHECKSUM,
    GATE,
    CATEGORY,
    EXPIRES_AT,
    PRIORITY,
    UPDATED_AT,
    RANK,
    VOTES,
    PROJECT,
    PLACE,
    STALE,
    AGES_AT,
    ERROR,
    AGENTS,
    TASKS,
    CONTEXTS,
    ANTI_CONTEXTS,
    TAGS,
    LINKS,
    SAME,
    NOTE,
    GLOBS,
    REJECTED,
    CHECKS,
    ENFORCED,
    REVIEW,
) = range(35)
FIELDS = 35
LIST = "\x1f"
MOVED = "\x1d"
"""Mark of a glob that follows a rename: `!` if it excludes, mark, new glob, mark, the record's."""
NOTE_LINE, MORE_LINE = "\n  note: ", "\n  more: "
"""What a teaser has between a record's headline, its note and the path of its full text."""
PHRASES, EXACT = "\x1e", "="
"""What parts an option's names and the text that is shown;
prefix of a name that only an import can mean.
"""


class Row:
    """One record of the index; `values` are its fields as texts."""

    def __init__(self, number: int, values: list[str], flags: int) -> None:
        self.number, self.values, self.flags = number, values, flags

    @property
    def id(self) -> str:
        """The record's id."""
        return self.values[ID]

    @property
    def teaser(self) -> str:
        """The text that is pushed: one or two lines, escaped and redacted."""
        return self.values[TEASER]

    def noted(self, teaser: str) -> str:
        """Return a text that begins with the record's headline, with its constraint or first
        consequence below that.
        """
        note = self.values[NOTE]
        if not note:
            return teaser

        first, separator, more = teaser.partition("\n")
        return f"{first}{NOTE_LINE}{note}{separator}{more}"

    def words(self, field: int) -> list[str]:
        """Return a field that is a list."""
        if self.values[field]:
            return self.values[field].split(LIST)

        return []

    def is_expired(self, now: float) -> bool:
        """Say whether the record has expired at `now`, in seconds since 1970."""
        return bool(self.flags & EXPIRES) and int(self.values[EXPIRES_AT]) <= now

    def doubt(self, now: float) -> str:
        """Return why the record may be out of date; empty if nothing says so."""
        aged = self.values[AGES_AT] if self.flags & DOUBTED else ""
        return self.values[STALE] or ("age" if aged and int(aged) <= now else "")

    def review_due(self, now: float) -> str:
        """Return since when a review of the record is due; empty if none is."""
        start, _, since = self.values[REVIEW].partition(" ")
        if since and int(start) <= now:
            return since

        return ""
