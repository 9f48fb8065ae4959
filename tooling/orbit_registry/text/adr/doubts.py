"""Says why a document is no decision: by its name, its title, its place, or what it holds. It reads no text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from orbit_registry.text.adr.file_names import (
    is_decision_folder,
    is_decision_name,
    is_request_folder,
    is_request_name,
    read_name,
)
from orbit_registry.text.adr.model import AdrDocument
from orbit_registry.text.adr.sections import EVIDENCE, decides
from orbit_registry.text.structure import Heading

_TEMPLATE_NAME = re.compile(
    r"(?:[a-z-]*[-_ ])?(?:(?:adr)?0+[-_])?(?![1-9]|0+[1-9]|adr-?\d)(?:[^\d]*[-_. ])?"
    r"(?:templates?|vorlage|mod[eèé]le|modelo|modello|plantilla|sjabloon|szablon|mall|шаблон|模板|テンプレート|템플릿)"
    r"(?:[-_. ].*)?$",
    re.IGNORECASE,
)
_TEMPLATE_FOLDER = re.compile(r"_?(?:adr[-_])?templates?$", re.IGNORECASE)
_TO_FILL_IN = re.compile(r"(?:ADR|RFC|TEP|KEP|DR)[- #]?(?:N{3,}|X{3,}|\?{3,})(?!\w)")
_PLACEHOLDER = re.compile(r"\{(?!\{)|\{\{[^{}]*\}\}$|[\[<]short title")
"""What a template has in place of a title; `{{fn}} helper` is one, of a program that templates are written in."""
_INDEX_NAMES = frozenset(
    {"index", "toc", "inhalt", "índice", "indice", "sommaire", "содержание", "索引", "目录", "目錄", "一覧", "目次"}
)
_NOT_ADR_NAMES = _INDEX_NAMES | frozenset(
    {"agents", "claude", "gemini", "contributing", "changelog", "license", "summary", "code_of_conduct"}
)
_NAME_ALONE = "a number in its name, but neither a title, nor a status, nor a section that holds a decision"
_NO_VERDICT = "a request for comments that states no known status"
_NOTHING_DECIDED = "a number and a status, but nothing that it decides"
_STATUS_ALONE = "a status, as pages of a manual have one, but nothing that it decides"
_DECIDED = EVIDENCE - {"context"}
"""Sections that a page of a manual does not have: `Background` is one of many."""
_NUMBER_ALONE = "a number or a date in its name, but no status and no section that holds a decision"
OF_ITS_PLACE = (_NAME_ALONE, _NUMBER_ALONE, _NO_VERDICT, _NOTHING_DECIDED, _STATUS_ALONE)
"""Why a document is no decision where nobody said that decisions are there; whoever names the file says so."""


def is_template(pure: PurePosixPath, stem: str) -> bool:
    """Say whether a file is a template, by its name or its folder's."""
    return _TEMPLATE_NAME.match(stem) is not None or any(_TEMPLATE_FOLDER.match(part) for part in pure.parent.parts)


def why_no_decision(
    entry: AdrDocument, inside: Sequence[Heading], stem: str, pure: PurePosixPath, *, in_series: bool
) -> str | None:
    """Return why the document is no decision, or None if it is one."""
    named = read_name(stem)
    if (
        stem.lower() in _NOT_ADR_NAMES
        or (named is not None and named.title.lower() in _INDEX_NAMES)
        or (stem.lower() == "readme" and not in_series and not is_decision_name(pure.parent.name))
    ):
        return "an index or a guide, by its name"
    if _PLACEHOLDER.match(entry.title) or _TO_FILL_IN.search(entry.title):
        return "a template, by its title"
    if is_request_name(stem) and entry.status == "unknown":
        return _NO_VERDICT
    keys = {section.key for section in entry.sections}
    in_folder = any(map(is_decision_folder, pure.parent.parts))
    in_place = in_folder or stem.lower().startswith("adr")
    if decides(entry.sections, alone=not in_place and (named is None or _is_bare_number(stem))):
        return None
    if entry.status_raw.strip() or (entry.format != "none" and keys & EVIDENCE):
        # tickets, tests and plans have a number and a status too
        in_place |= entry.status != "unknown" and any(map(is_request_folder, pure.parent.parts))
        if in_place or not _is_bare_number(stem):
            sure = in_place or in_series or named is not None or entry.number_spans or keys & _DECIDED
            return None if sure else _STATUS_ALONE
        return _NOTHING_DECIDED
    if not in_place or not (is_decision_name(stem) or is_decision_name(pure.parent.name)):
        is_named = named is not None and named.is_decisions and named.title
        return _NUMBER_ALONE if is_named else "no status and no section that holds a decision"
    return None if in_folder or entry.heading_span is not None else _NAME_ALONE


def _is_bare_number(stem: str) -> bool:
    found = read_name(stem)
    return found is not None and found.number is not None and not found.lead.strip("-_ ")
