"""All texts of many records as one string, so that a pattern which hardly ever matches is looked for once."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable

from orbit_registry.records.record import Record

_encode = json.JSONEncoder(ensure_ascii=False).encode


class Spelling:
    """Records as JSON, with the prose that stands elsewhere behind it."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._records = list(records)
        self._starts: list[int] = []
        texts: list[str] = []
        at = 0
        for record in self._records:
            text = _encode(record.data) + record.prose * (not record.kind.in_record)
            texts.append(text)
            self._starts.append(at)
            at += len(text) + 1
        self._texts = texts
        self._whole = "\n".join(texts)

    def unusual(self) -> list[Record]:
        """Return the records with anything but what an English keyboard types, tabs and line breaks."""
        return [record for record, text in zip(self._records, self._texts, strict=True) if not _is_usual(text)]

    def suspects(self, pattern: re.Pattern[str]) -> list[Record]:
        """Return the records in which a pattern is found; it must know control characters by their JSON escapes."""
        found = {bisect_right(self._starts, one.start()) - 1 for one in pattern.finditer(self._whole)}
        return [self._records[place] for place in sorted(found)]


def _is_usual(text: str) -> bool:
    if not text.isascii() or "\\u" in text or "\\b" in text or "\\f" in text:
        return False
    return text.isprintable() or text.replace("\n", "").replace("\t", "").replace("\r", "").isprintable()
