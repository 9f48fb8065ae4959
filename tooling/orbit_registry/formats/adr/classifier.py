"""Reasons why a document is not a decision: its name, title, place or content."""

from collections.abc import Sequence
from pathlib import PurePosixPath

from orbit_registry.formats.adr.file_names import (
    is_archive_folder,
    is_decision_folder,
    is_decision_name,
    is_request_folder,
    is_request_name,
    read_name,
)
from orbit_registry.formats.adr.headings import EVIDENCE, has_decision_sections
from orbit_registry.formats.adr.model import FOLDER, AdrDocument
from orbit_registry.formats.adr.patterns import pattern
from orbit_registry.formats.adr.vocabulary import word_set
from orbit_registry.formats.markdown import Heading
from orbit_registry.formats.wording import plain

_TEMPLATE_NAME = pattern("template_name")
_BLANK_NAME = pattern("blank_name")
_TEMPLATE_FOLDER = pattern("template_folder")
_INDEX_NAME = pattern("index_name")
_SESSION_NAME = pattern("session_name")
_SESSION_FOLDER = pattern("session_folder")
_SESSION_TITLE = pattern("session_title")
_COPIES = pattern("copies")
_TO_FILL_IN = pattern("to_fill_in")
_PLACEHOLDER = pattern("placeholder")
_WHOLE_PLACEHOLDER = pattern("whole_placeholder")
_NO_TITLE = pattern("no_title")
_INDEX_NAMES = word_set("index_names")
_GUIDE_TITLES = tuple(word_set("guide_titles"))
_NOT_ADR_NAMES = _INDEX_NAMES | word_set("other_names")
_NAME_ALONE = (
    "a number in its name, but neither a title, nor a status, nor a section that holds a decision"
)
_NO_VERDICT = "a request for comments that states no known status"
NOTHING_DECIDED = "a number and a status, but nothing that it decides"
_STATUS_ALONE = "a status, as pages of a manual have one, but nothing that it decides"
_DECIDED = EVIDENCE - {"context"}  # sections that manual pages lack; many have `Background`
_NUMBER_ALONE = "a number or a date in its name, but no status and no section that holds a decision"
_SESSION = "a log of a session, by its name"
_COPY = "a copy that a site generator keeps, of an older version or in another language"
PLACE_REASONS = (
    _COPY,
    _SESSION,
    _NAME_ALONE,
    _NUMBER_ALONE,
    _NO_VERDICT,
    NOTHING_DECIDED,
    _STATUS_ALONE,
)
"""Reasons that a caller who names the file overrides."""
NUMBERED_REASONS = (_NUMBER_ALONE, _NO_VERDICT, NOTHING_DECIDED)
"""Those of a document with a number in its name."""


def is_template(path: PurePosixPath, stem: str) -> bool:
    """Say whether a file is a template, by its name or its folder's."""
    by_name = _TEMPLATE_NAME.match(stem) or _BLANK_NAME.match(stem)
    return by_name is not None or any(_TEMPLATE_FOLDER.match(part) for part in path.parent.parts)


def skip_reason(
    entry: AdrDocument,
    inside: Sequence[Heading],
    stem: str,
    path: PurePosixPath,
    *,
    says_so: bool,
    is_filled: bool,
) -> str | None:
    """Return why the document is no decision; `is_filled`:
    context and decision hold more than placeholders.
    """
    name = read_name(stem)
    is_own = stem.lower() in ("readme", "index") and is_decision_name(path.parent.name)
    is_own = is_own or _has_folder_of_its_own(entry, stem, path)
    if not is_own and (
        plain(stem) in _NOT_ADR_NAMES
        or _INDEX_NAME.match(stem)
        or (name is not None and plain(name.title) in _INDEX_NAMES)
        or (stem.lower() == "readme" and not says_so)
    ):
        return "an index or a guide, by its name"

    if _COPIES.search(path.as_posix()):
        return _COPY
    if plain(entry.title).lstrip("¿ ").replace("’", "'").startswith(_GUIDE_TITLES):
        return "a guide, by its title"
    if _is_session(entry, stem, path):
        return _SESSION
    if _has_blank_title(entry, is_filled=is_filled):
        return "a template, by its title"
    if is_request_name(stem) and entry.status == "unknown":
        return _NO_VERDICT

    keys = {section.key for section in entry.sections}
    in_folder = any(map(is_decision_folder, path.parent.parts))
    in_place = in_folder or stem.lower().startswith("adr")
    if has_decision_sections(
        entry.sections, alone=not in_place and (name is None or _is_bare_number(stem))
    ):
        return None

    if entry.status_raw.strip() or (entry.format != "none" and keys & EVIDENCE):
        # tickets, tests and plans have a number and a status too
        in_place |= entry.status != "unknown" and any(map(is_request_folder, path.parent.parts))
        if in_place or not _is_bare_number(stem):
            is_numbered = (
                name is not None and not name.dated
            )  # journals have dates and a status too
            sure = in_place or says_so or is_numbered or entry.number_spans or keys & _DECIDED
            if sure:
                return None

            return _STATUS_ALONE

        return NOTHING_DECIDED

    if not in_place or not (is_decision_name(stem) or is_decision_name(path.parent.name)):
        is_named = name is not None and name.is_decisions and name.title
        if is_named:
            return _NUMBER_ALONE

        return "no status and no section that holds a decision"

    if in_folder or entry.heading_span is not None:
        return None

    return _NAME_ALONE


def is_blank_entry(entry: AdrDocument) -> bool:
    """Say whether an entry of a log shows how to write one:
    `D-001 — <Decision title>` without a status.
    """
    return entry.status == "unknown" and _WHOLE_PLACEHOLDER.fullmatch(entry.title) is not None


def _has_blank_title(entry: AdrDocument, *, is_filled: bool) -> bool:
    """Say whether a title is a template's; a written and decided document may have a
    similar one.
    """
    begins = _PLACEHOLDER.match(entry.title) or _TO_FILL_IN.match(entry.title)
    if not begins and not _TO_FILL_IN.search(entry.title):
        return False
    pending = ("unknown", "proposed") if begins else ("unknown",)
    return not is_filled or entry.status in pending


def is_blank_title(title: str) -> bool:
    """Say whether a title is still the template's: `{short title of the problem}`."""
    begins = _PLACEHOLDER.match(title) or _TO_FILL_IN.match(title)
    return begins is not None and _NO_TITLE.search(title) is not None


def _has_folder_of_its_own(entry: AdrDocument, stem: str, path: PurePosixPath) -> bool:
    """Say whether a document is a decision in a folder without a number:
    `docs/adr/use-x/README.md`.
    """
    folder, above = path.parent.name, path.parent.parent.name
    is_below = (
        is_decision_folder(above)
        and not is_decision_folder(folder)
        and not is_archive_folder(folder)
    )
    if not is_below or stem.lower() not in ("readme", "index"):
        return False

    has_status = entry.status != "unknown" and entry.format not in ("none", FOLDER)
    return has_status and has_decision_sections(entry.sections, alone=True)


def _is_session(entry: AdrDocument, stem: str, path: PurePosixPath) -> bool:
    name = read_name(stem)
    if name is not None and name.number is not None:
        return False
    folder = path.parent.name
    in_folder = _SESSION_FOLDER.match(folder) or (
        folder.lower() == "sessions" and name is not None and name.dated
    )
    return bool(in_folder or _SESSION_NAME.match(stem) or _SESSION_TITLE.match(entry.title))


def _is_bare_number(stem: str) -> bool:
    name = read_name(stem)
    return name is not None and name.number is not None and not name.lead.strip("-_ ")
