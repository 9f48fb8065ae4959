"""Exceptions of the package.

    OrbitError                     expected: one line and a hint, never a traceback
    ├── UsageError                 the call was wrong (exit 2)
    │   ├── WorkspaceNotFoundError no `.orbit/` here or above
    │   ├── ForeignWorkspaceError  an `.orbit/` that another tool wrote
    │   └── ConfigError            `.orbit/config.yaml` can't be used
    ├── RecordNotFoundError        no record has that id (exit 1, as all below)
    │   └── EmptyIdError           the id is empty (exit 2)
    ├── AmbiguousIdError           several records have that id
    ├── InvalidRecordError         the change would make a record invalid
    ├── RefusedError               the change is valid in form, but not allowed (as a vote)
    ├── UnsafePathError            a path leads out of the root
    ├── UnreadableFileError        a file is too large, not text, missing, or not permitted
    ├── WriteError                 the disk refused (full, read-only)
    ├── LockTimeoutError           another process is writing
    ├── GitError                   git is missing or failed
    │   ├── GitStoppedError        git was killed or took too long (exit 3)
    │   └── UnreadableHeadError    git can't read the commit that is checked out (exit 3)
    ├── ProgramError               a program of the project failed
    ├── DeliveryError              data that was to be sent did not arrive
    ├── LakeError                  a lake can't be read or written
    └── SnapshotError              the snapshot can't be built or queried

Problems in users' records are values, not exceptions: see `model.diagnostic`.
"""

import re
from collections.abc import Iterable, Sequence

LONGEST_WORD = 300
"""A longer word of a caller's is cut where a message repeats it."""


class OrbitError(Exception):
    """An expected failure: what happened and where, with a hint about what to do next."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str, next_commands: Sequence[str] = ()) -> None:
        """`next_commands` make sense instead."""
        super().__init__(message)
        self.message = without_long_words(message)
        self.hint = hint
        self.next_commands = next_commands


def without_long_words(message: str) -> str:
    """Return a message whose longest words are cut: a terminal shows what is wrong with them."""
    return re.sub(rf"\S{{{LONGEST_WORD},}}", lambda word: f"{word[0][:80]}…", message)


class UsageError(OrbitError):
    """The call itself was wrong."""

    exit_code = 2


class WorkspaceNotFoundError(UsageError):
    """There is no `.orbit/` in this folder or above it."""


class ForeignWorkspaceError(UsageError):
    """Another tool wrote the `.orbit/`."""


class ConfigError(UsageError):
    """`.orbit/config.yaml` can't be used."""


class RecordNotFoundError(OrbitError):
    """No record has the id."""


class EmptyIdError(RecordNotFoundError):
    """The id is empty, so the call itself was wrong."""

    exit_code = UsageError.exit_code


class AmbiguousIdError(OrbitError):
    """Several records have one id; `candidates` holds their ids."""

    def __init__(self, message: str, *, candidates: tuple[str, ...], hint: str) -> None:
        super().__init__(message, hint=hint)
        self.candidates = candidates


class InvalidRecordError(OrbitError):
    """A change would make a record invalid; nothing was written."""


class RefusedError(OrbitError):
    """A change is well-formed but not allowed; nothing was written."""


class UnsafePathError(OrbitError):
    """A path leads out of the project's root."""


class UnreadableFileError(OrbitError):
    """A file can't be read: missing, too large, not UTF-8, not permitted."""


class WriteError(OrbitError):
    """The file system refused a write; the old content is unchanged."""


class LockTimeoutError(OrbitError):
    """Another process holds the lock."""


class GitError(OrbitError):
    """Git is missing, or refused."""


class GitStoppedError(GitError):
    """Git was killed or took too long."""

    exit_code = 3


class UnreadableHeadError(GitError):
    """Git can't read the commit that is checked out: its object is gone, or git was stopped."""

    exit_code = 3


class ProgramError(OrbitError):
    """A program of the configuration failed; `fault` tells how, without its output."""

    def __init__(self, message: str, *, hint: str, fault: str) -> None:
        super().__init__(message, hint=hint)
        self.fault = fault


class DeliveryError(OrbitError):
    """Data that was to be sent did not arrive; nothing counts as sent."""


class LakeError(OrbitError):
    """A lake can't be read or written."""


class SnapshotError(OrbitError):
    """The snapshot can't be built or queried."""


def did_you_mean(word: str, choices: Iterable[str], quote: str = "") -> str:
    """Return the start of a hint about an unknown word: the nearest choice, if one is near."""
    from difflib import get_close_matches  # most commands go well

    by_lower_case = {choice.lower(): choice for choice in choices}
    near = get_close_matches(word.lower(), by_lower_case, n=1)
    if not near:
        return ""

    return f"did you mean {quote}{by_lower_case[near[0]]}{quote}? "


def plural(count: int, singular: str, plural_form: str = "") -> str:
    """Return a count with its noun: `1 record`, `1,200 records`."""
    noun = singular if count == 1 else plural_form or f"{singular}s"
    return f"{count:,} {noun}"


def listed(names: Sequence[str], most: int) -> str:
    """Return the first names, and how many more there are: `a, b and 3 more`."""
    text = ", ".join(names[:most])
    if len(names) > most:
        text += f" and {len(names) - most:,} more"

    return text
