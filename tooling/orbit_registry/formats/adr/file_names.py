"""Names of decision files and folders: numbers, dates, titles, statuses."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import takewhile
from pathlib import PurePosixPath

from orbit_registry.formats.adr.model import Status
from orbit_registry.formats.adr.patterns import pattern
from orbit_registry.formats.adr.vocabulary import NO_STATUS_FOLDERS, STATUS_OF
from orbit_registry.formats.wording import plain

GENERIC_NAMES = frozenset({"readme", "index", "adr", "decision", "rfc", "kep", "tep", "vep"})
"""File names that say nothing; the folder has the name then."""

_DATED = pattern("dated")
_MONTH = pattern("month")
_PERIOD = pattern("period")
_NUMBERED = pattern("numbered_name")
_SERIES = pattern("series")
_FOLDER = pattern("folder")
_DATES = pattern("dates")
_LOG = pattern("log")
_REQUEST = pattern("request")
_ORDER = pattern("order")
_ARCHIVE = pattern("archive")
_OF_DECISIONS = pattern("of_decisions")
_CODE_AND_NUMBER = pattern("code_and_number")
_FAR = 2  # folders above a document that may state its status
_FEWEST_DIGITS = (
    3  # digits of a bare number: `1-intro.md` and `02-setup.md` are chapters of a guide
)


@dataclass(frozen=True, slots=True)
class FileName:
    """Parts of a name with a number or a date: `adr-0042-use-x` is `adr-`, `0042`, `-`, `use-x`."""

    lead: str
    number: str | None  # with its zeros; None for a date
    dated: str  # the date, month or quarter as written, else ''
    date: str | None  # the date in ISO form; None for a month or a quarter
    dash: str
    title: str

    @property
    def is_decisions(self) -> bool:
        """Whether it names a decision: by a date, `adr` and a number,
        or a number of three digits.
        """
        return (
            bool(self.dated or self.lead.strip("-_ ")) or len(self.number or "") >= _FEWEST_DIGITS
        )


def read_name(name: str) -> FileName | None:
    """Return the parts of a name without its suffix;
    None if it begins with neither a number nor a date.
    """
    dated = _DATED.match(name)
    if dated is not None:
        iso = f"{dated['y']}-{dated['m']}-{dated['d']}"
        return FileName("", None, dated["dated"], iso, dated["dash"], name[dated.end() :])

    month = _MONTH.match(name) or _PERIOD.match(name)
    if month is not None:
        return FileName("", None, month["dated"], None, month["dash"], name[month.end() :])

    numbered = _NUMBERED.match(name)
    if numbered is None:
        return None

    return FileName(
        numbered["lead"], numbered["number"], "", None, numbered["dash"], name[numbered.end() :]
    )


def read_series_name(name: str) -> FileName | None:
    """Return the parts of `ccc-jb-001-use-x`, and of `use-http-404-pages`,
    which a heading has to confirm.
    """
    match = _SERIES.match(name) if read_name(name) is None else None
    if match is None:
        return None

    return FileName(match["lead"], match["number"], "", None, match["dash"], name[match.end() :])


def series_number(name: str, heading: str) -> str | None:
    """Return the number of `ccc-jb-001-use-x` if the heading begins with `CCC-JB-001` too."""
    series = read_series_name(name)
    if series is None or series.number is None:
        return None

    code = re.sub(r"[-_ #]+", "", series.lead.casefold())
    start = _CODE_AND_NUMBER.match(re.sub(r"[-_ #]+", "", heading.casefold()))
    if start is None or start["code"] != code or int(start["number"]) != int(series.number):
        return None

    return series.number


def is_decision_name(name: str) -> bool:
    """Say whether a file (without suffix) or folder is named like a decision."""
    parts = read_name(name)
    return parts is not None and parts.is_decisions


def strip_date_folders(folder: str) -> str:
    """Return a folder without dates at its end: `decisions` for `decisions/2024/03`."""
    return _DATES.sub("", folder)


def is_decision_folder(name: str) -> bool:
    """Say whether a folder is named after decisions:
    `adr`, `decisions`, `architecture-decision-records`.
    """
    return _FOLDER.match(name) is not None


def _status_of_folder(name: str) -> Status | None:
    word = plain(_ORDER.sub("", name))
    if word in NO_STATUS_FOLDERS:
        return None

    return STATUS_OF.get("draft" if word == "drafts" else word)


FOREIGN_FOLDERS = frozenset(
    {
        "test",
        "tests",
        "__tests__",
        "testdata",
        "fixtures",
        "__fixtures__",
        "example",
        "examples",
        "samples",
        "vendor",
        "third_party",
        "versioned_docs",
    }
)
"""Folders whose decisions are examples, or those of other projects."""


def is_foreign_folder(folder: str) -> bool:
    """Say whether a folder's decisions are examples of tests, or those of other projects."""
    parts = [part for part in folder.lower().split("/") if not is_decision_name(part)]
    return any(part in FOREIGN_FOLDERS or part.endswith(("-test", "-tests")) for part in parts)


def is_example(path: str) -> bool:
    """Say whether a document's decisions are examples:
    below its folder of decisions, such a name is a subject.
    """
    parts = path.rpartition("/")[0].split("/")
    return is_foreign_folder("/".join(takewhile(lambda part: not is_decision_folder(part), parts)))


def is_archive_folder(name: str) -> bool:
    """Say whether a folder holds old or closed decisions, not new ones: `rejected`, `archive`."""
    return (
        _ARCHIVE.fullmatch(_ORDER.sub("", name)) is not None or _status_of_folder(name) is not None
    )


def home_folder(folder: str) -> str:
    """Return the folder for new decisions: `adr` for `adr/rejected/2024`."""
    folder = strip_date_folders(folder)
    above, _, name = folder.rpartition("/")
    if above and is_archive_folder(name):
        return home_folder(above)

    return folder


def status_of_path(path: str) -> Status | None:
    """Return the status in the names of a document's folders, the nearest first,
    below that of all decisions.
    """
    pure = PurePosixPath(path.replace("\\", "/"))
    folder = pure.parent.parent if _has_own_folder(path) else pure.parent
    for name in reversed(strip_date_folders(folder.as_posix()).split("/")[-_FAR:]):
        status = _status_of_folder(_OF_DECISIONS.sub("", name))  # `rejected-adrs`
        if status is not None or is_decision_folder(name):
            return status

    return None


def is_log_name(name: str) -> bool:
    """Say whether a file (without suffix) is named like a log of decisions:
    `DECISIONS`, `adr-log`.
    """
    return _LOG.match(name) is not None


def is_request_folder(name: str) -> bool:
    """Say whether a folder is named after requests for comments."""
    return name.lower() in ("rfc", "rfcs")


def is_request_name(name: str) -> bool:
    """Say whether a file is named like a request for comments,
    a decision only with a stated outcome.
    """
    return _REQUEST.match(name) is not None


def own_folders(paths: Iterable[str]) -> frozenset[str]:
    """Return the folders that hold one decision each:
    `rfcs/0042-use-x` of `rfcs/0042-use-x/README.md`.
    """
    return frozenset(
        PurePosixPath(path).parent.as_posix() for path in paths if _has_own_folder(path)
    )


def _has_own_folder(path: str) -> bool:
    pure = PurePosixPath(path)
    return pure.stem.lower() in GENERIC_NAMES and is_decision_name(pure.parent.name)


def owning_folder(path: str, folders: Collection[str]) -> str | None:
    """Return which of these `folders` a document is a part of; None for none."""
    if _has_own_folder(path):
        return None

    return next(
        (
            above
            for parent in PurePosixPath(path).parents
            if (above := parent.as_posix()) in folders
        ),
        None,
    )


def number_of_path(path: str) -> str | None:
    """Return the number in `0042-title.md`, `adr-042-title.md` or `ADR-0042/README.md`,
    with its zeros; `4_decisions.md` is a log, and its number is that of a chapter.
    """
    name = _name(path)
    parts = read_name(name)
    if parts is not None and not is_log_name(name):
        return parts.number

    return None


def date_of_path(path: str) -> str | None:
    """Return the ISO date in a file's or its folder's name."""
    parts = read_name(_name(path))
    if parts is not None:
        return parts.date

    return None


def title_of_path(path: str) -> str:
    """Return a title from the file's name, for a document without one."""
    name = _name(path)
    parts = read_name(name)
    bare = parts.title if parts is not None and (parts.number or parts.date) else name
    words = re.sub(r"[-_ ]+", " ", bare).strip()
    return (words or name)[:1].upper() + (words or name)[1:]


def _name(path: str) -> str:
    pure = PurePosixPath(path.replace("\\", "/"))
    if pure.stem.lower() in GENERIC_NAMES and pure.parent.name:
        return pure.parent.name

    return pure.stem
