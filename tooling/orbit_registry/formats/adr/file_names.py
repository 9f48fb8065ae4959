"""Reads what names of files and folders say: the one home of what a numbered decision file is. It opens none."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from orbit_registry.formats.adr.model import Status
from orbit_registry.formats.adr.vocabulary import NO_STATUS_FOLDERS, STATUS_OF, plain

GENERIC_NAMES = frozenset({"readme", "index", "adr", "decision"})
"""Files that are named after what they hold; the folder has the name then."""

_DATED = re.compile(
    r"(?P<dated>(?P<y>(?:19|20)\d\d)[-_]?(?P<m>0[1-9]|1[0-2])[-_]?(?P<d>0[1-9]|[12]\d|3[01]))(?P<dash>[-_. ]|$)"
)
_MONTH = re.compile(r"(?P<dated>(?:19|20)\d\d-?(?:0[1-9]|1[0-2]))(?P<dash>[-_. ])")
_PERIOD = re.compile(r"(?P<dated>(?:19|20)\d\d[-_ ]?(?:Q[1-4]|H[12]|W[0-5]\d))(?P<dash>[-_. ]|$)", re.IGNORECASE)
SERIES_CODE = r"(?:[a-z][a-z0-9]{0,11}[-_]){0,2}(?:m?adr|[a-z]?dr|uxdr|dec)(?:[-_][a-z]{1,12}){0,2}"
"""What a series of decisions calls its own, in either case: `adr`, `DR`, `TDR`, `ODH-ADR-DSP`."""
_NUMBERED = re.compile(
    rf"(?P<lead>(?:{SERIES_CODE}|decision|rfcs?)?[-_ ]?)(?P<number>\d{{1,6}})(?P<dash>[-_. ]|$)", re.IGNORECASE
)
_SERIES = re.compile(
    r"(?P<lead>(?:[a-z][a-z0-9]{0,11}[-_]){1,3})(?!(?:19|20)\d\d(?!\d))(?P<number>\d{2,6})(?P<dash>[-_]|$)",
    re.IGNORECASE,
)
_FOLDER = re.compile(
    r"\.?(?:[a-z0-9]+[-_ ]){0,3}(?:adrs?|decisions?(?:[-_ ](?:records?|logs?))?|(?:architektur)?entscheidungen"
    r"|décisions|decisiones|decis[oõ]es|decisioni|beslissingen)$",
    re.IGNORECASE,
)
_DATES = re.compile(r"(?<=[^/])/(?:19|20)\d\d(?:[-_./](?:0[1-9]|1[0-2])(?:[-_./](?:0[1-9]|[12]\d|3[01]))?)?$")
_LOG = re.compile(
    r"(?:\d{1,2}[-_. ])?(?:(?:adr|architectur(?:e|al)|design|technical)[-_ ])?"
    r"decisions?(?:[-_ ]?(?:log|records?))?$"
    r"|adrs$|adr[-_]?log$",
    re.IGNORECASE,
)
_REQUEST = re.compile(r"rfcs?[-_ ]?\d", re.IGNORECASE)
_ORDER = re.compile(r"^(?:\d{1,2}[-_. ]+|[_.]+)")
_ARCHIVE = re.compile(r"archive[sd]?|archivio|archivo|attic|old|history", re.IGNORECASE)
_OF_DECISIONS = re.compile(r"[-_ ](?:adrs?|decisions?)$", re.IGNORECASE)
_FAR = 2
"""Folders above a document that may say its status."""
_FEWEST_DIGITS = 3
"""Digits that a bare number has to have: `1-intro.md` and `02-setup.md` are chapters of a guide."""


@dataclass(frozen=True, slots=True)
class FileName:
    """A name that begins with a number or a date, cut: `adr-0042-use-x` is `adr-`, `0042`, `-`, `use-x`."""

    lead: str
    number: str | None
    """With its zeros; None where the name begins with a date."""
    dated: str
    """The date, month or quarter as written, else ''."""
    date: str | None
    """The date in ISO form; a month or a quarter is none."""
    dash: str
    title: str

    @property
    def is_decisions(self) -> bool:
        """Say whether decisions are named so: by a date, by `adr` and a number, or by a number of three digits."""
        return bool(self.dated or self.lead.strip("-_ ")) or len(self.number or "") >= _FEWEST_DIGITS


def read_name(name: str) -> FileName | None:
    """Return the parts of a name without its ending; None where it begins with neither a number nor a date."""
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
    return FileName(numbered["lead"], numbered["number"], "", None, numbered["dash"], name[numbered.end() :])


def read_series_name(name: str) -> FileName | None:
    """Return the parts of a name whose number follows words of any kind, as in `ccc-jb-001-use-x`.

    `use-http-404-pages` is read so too: only where its neighbours or its heading say the same is it a series.
    """
    match = _SERIES.match(name) if read_name(name) is None else None
    return FileName(match["lead"], match["number"], "", None, match["dash"], name[match.end() :]) if match else None


def series_number(name: str, heading: str) -> str | None:
    """Return the number of `ccc-jb-001-use-x`, where the document's heading begins with `CCC-JB-001` too."""
    series = read_series_name(name)
    code = _plain_code(f"{series.lead}{series.number}") if series is not None else ""
    heading_code = _plain_code(heading)
    sure = bool(code) and heading_code.startswith(code) and not heading_code[len(code) :][:1].isdigit()
    return series.number if series is not None and sure else None


def _plain_code(text: str) -> str:
    return re.sub(r"[-_ #]+", "", text.casefold())


def is_decision_name(name: str) -> bool:
    """Say whether decisions are named like this file (without its ending) or folder."""
    parts = read_name(name)
    return parts is not None and parts.is_decisions


def strip_date_folders(folder: str) -> str:
    """Return a folder without the years, months and days at its end: `decisions/2024/03` and `decisions/2024-03` are
    where `decisions` are kept.
    """
    return _DATES.sub("", folder)


def is_decision_folder(name: str) -> bool:
    """Say whether a folder is named after decisions: `adr`, `decisions`, `architecture-decision-records`."""
    return _FOLDER.match(name) is not None


def status_of_folder(name: str) -> Status | None:
    """Return the status that a folder is named after: `rejected`, `02-accepted`, `drafts`."""
    word = plain(_ORDER.sub("", name))
    return STATUS_OF.get("draft" if word == "drafts" else word) if word not in NO_STATUS_FOLDERS else None


def is_archive_folder(name: str) -> bool:
    """Say whether a folder is one that decisions are put away in, and no home of their own: `rejected`, `archive`."""
    return _ARCHIVE.fullmatch(_ORDER.sub("", name)) is not None or status_of_folder(name) is not None


def home_folder(folder: str) -> str:
    """Return where the decisions of a folder are kept: `adr` for `adr/rejected/2024`, for nobody writes one there."""
    folder = strip_date_folders(folder)
    above, _, name = folder.rpartition("/")
    return home_folder(above) if above and is_archive_folder(name) else folder


def status_of_path(path: str) -> Status | None:
    """Return the status that the folders of a document say: the nearest that has one, below that of all decisions."""
    pure = PurePosixPath(path.replace("\\", "/"))
    folder = pure.parent.parent if _has_own_folder(path) else pure.parent
    for name in reversed(strip_date_folders(folder.as_posix()).split("/")[-_FAR:]):
        status = status_of_folder(_OF_DECISIONS.sub("", name))  # `rejected-adrs`
        if status is not None or is_decision_folder(name):
            return status
    return None


def is_log_name(name: str) -> bool:
    """Say whether a file (without its ending) is named like one that holds many decisions: `DECISIONS`, `adr-log`."""
    return _LOG.match(name) is not None


def is_request_folder(name: str) -> bool:
    """Say whether a folder is named after requests for comments."""
    return name.lower() in ("rfc", "rfcs")


def is_request_name(name: str) -> bool:
    """Say whether a request for comments is named so: a decision only where it states what became of it."""
    return _REQUEST.match(name) is not None


def own_folders(paths: Iterable[str]) -> frozenset[str]:
    """Return the folders that decisions have for themselves: `rfcs/0042-use-x` of `rfcs/0042-use-x/README.md`."""
    return frozenset(PurePosixPath(path).parent.as_posix() for path in paths if _has_own_folder(path))


def _has_own_folder(path: str) -> bool:
    pure = PurePosixPath(path)
    return pure.stem.lower() in GENERIC_NAMES and is_decision_name(pure.parent.name)


def owning_folder(path: str, folders: Collection[str]) -> str | None:
    """Return which of the `folders` that decisions have for themselves a document is a part of; None where of none."""
    if _has_own_folder(path):
        return None
    return next((above for parent in PurePosixPath(path).parents if (above := parent.as_posix()) in folders), None)


def number_of_path(path: str) -> str | None:
    """Return the number in `0042-title.md`, `adr-042-title.md` or `ADR-0042/README.md`, with its zeros."""
    parts = read_name(_name(path))
    return parts.number if parts is not None else None


def date_of_path(path: str) -> str | None:
    """Return the ISO date that a file or its folder is named after."""
    parts = read_name(_name(path))
    return parts.date if parts is not None else None


def title_of_path(path: str) -> str:
    """Return a title made from the file's name, for a document that states none."""
    name = _name(path)
    parts = read_name(name)
    bare = parts.title if parts is not None and (parts.number or parts.date) else name
    words = re.sub(r"[-_ ]+", " ", bare).strip()
    return (words or name)[:1].upper() + (words or name)[1:]


def _name(path: str) -> str:
    """Return the file's name without its ending, or its folder's where the file's name says nothing."""
    pure = PurePosixPath(path.replace("\\", "/"))
    return pure.parent.name if pure.stem.lower() in GENERIC_NAMES and pure.parent.name else pure.stem
