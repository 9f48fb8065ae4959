"""Turns what a decision's document states into a record's fields; what it does not state is left out."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from orbit_registry.model.votes import format_time
from orbit_registry.repository.documents import heading_of

if TYPE_CHECKING:
    from orbit_registry.operations.adopt.ids import NumberedDecision

STATUS_LIMIT = 2000
"""Characters of a status, as written, that a record keeps."""
_FEATURE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z")


_NO_FEATURES = frozenset({"doc", "docs", "documentation", "architecture", "design", "memory-bank", "memory_bank"})
"""Folders that are called after what all projects have: a log in `docs/` is the project's, and of no feature."""


def document_fields(decision: NumberedDecision) -> dict[str, object]:
    """Return the fields of a record that a document states; a status it doesn't state is `unknown`."""
    from orbit_registry.formats.adr.file_names import is_decision_folder  # with the formats of decisions: much to load

    entry, candidate = decision.candidate.entry, decision.candidate
    form = "log" if candidate.in_log else "file"
    source = {
        "path": candidate.path,
        "heading": heading_of(entry, form),
        "format": form,
        "authority": "document",
    }
    feature = candidate.feature
    is_feature = feature is not None and _FEATURE.match(feature) and feature.lower() not in _NO_FEATURES
    return {
        "title": one_line(entry.title, 300) or posixpath.basename(candidate.path),
        "status": entry.status,
        "status_raw": entry.status_raw.strip()[:STATUS_LIMIT],
        "date": (entry.date or "")[:40],
        "tasks": words(entry.tasks),
        "deciders": words(entry.deciders),
        "labels": words(entry.tags),
        "feature": feature if is_feature and not is_decision_folder(feature or "") else None,
        "legacy_ids": list(decision.legacy_ids),
        "source": {name: value for name, value in source.items() if value is not None},
    }


def document_dates(day_text: str | None, history: tuple[float, float] | None) -> dict[str, str]:
    """Return `created_at` and `updated_at` of a decision; empty where neither its document nor git has a date.

    A day that the document states is when it was made. `history` is its document's first commit and last change.
    """
    moments = [datetime.fromtimestamp(max(0, time), UTC) for time in history or ()]
    if day_text is not None and len(day_text) == len("2026-04-01"):
        day = datetime.fromisoformat(f"{day_text}T00:00:00+00:00")
        moments = [day, max([day, *moments[1:]])]
    now = datetime.now(UTC)
    return {
        name: format_time(min(moment, now)) for name, moment in zip(("created_at", "updated_at"), moments, strict=False)
    }


def document_uid(decision: NumberedDecision) -> str:
    """Return the uid of the record for a document's decision, the same in every clone that adopts it."""
    return stable_uid(
        "adr", decision.candidate.path, decision.candidate.entry.number or "", decision.candidate.entry.title
    )


def stable_uid(*parts: str) -> str:
    """Return a uid made of what identifies a thing at its origin, so that two clones that import it make one record."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def one_line(text: str, limit: int) -> str:
    """Return a text as one line of at most `limit` characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else f"{flat[: limit - 1].rstrip()}…"


def words(values: Iterable[str]) -> list[str]:
    """Return texts as a record's list of words: one line each, none twice."""
    return list(dict.fromkeys(word for value in values if (word := one_line(value, 200))))[:200]
