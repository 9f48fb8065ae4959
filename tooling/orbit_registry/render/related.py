"""What a record has to do with, as JSON shows it and as people read it; it prints nothing."""

from __future__ import annotations

from orbit_registry.render.records import table
from orbit_registry.snapshot.related import Related, words

MOST_LINES = 20
"""So many citing lines, and so many names that no record has, are listed in text."""


def related_data(found: Related) -> dict[str, object]:
    """Return it as JSON shows it."""
    return {
        "id": found.record.id,
        "related": [
            {
                "id": one.record.id,
                "kind": one.record.kind.name,
                "status": one.record.status.name,
                "phase": one.record.phase,
                "title": one.record.title,
                "path": one.record.path,
                "depth": one.depth,
                "links": [tie.as_data() for tie in one.ties],
            }
            for one in found.reached
        ],
        "dangling": [{"rel": rel, "to": to, "derived": derived} for rel, to, derived in found.dangling],
        "cited_in": [{"path": path, "line": line} for path, line in found.cited_in],
    }


def related_text(found: Related) -> str:
    """Return it as people read it: a table, then what leads nowhere, then lines of files."""
    deep = any(one.depth > 1 for one in found.reached)
    rows = []
    for one in found.reached:
        by = ", ".join(dict.fromkeys(tie.start for tie in one.ties))
        via = (by if one.depth > 1 else "",) if deep else ()
        rows.append((*via, words(one.ties), one.record.id, one.record.status.name, one.record.title))
    head = (*(("from",) if deep else ()), "is", "id", "status", "title")
    lines = [table(head, rows)] if rows else []
    for one in found.reached:
        for others in dict.fromkeys(tie.others for tie in one.ties if tie.others):
            listed = ", ".join(f"{other} ({', '.join(versions)})" for other, versions in others)
            own = ", ".join(one.record.words("versions"))
            lines.append(f"{one.record.id} is for {own}; of the same file: {listed}")
    lines += [f"leads to no record, or to several: {rel} {to}" for rel, to, _ in found.dangling[:MOST_LINES]]
    lines += [f"cited in {path}:{line}" for path, line in found.cited_in[:MOST_LINES]]
    more = max(len(found.cited_in) - MOST_LINES, 0) + max(len(found.dangling) - MOST_LINES, 0)
    lines += [f"and {more} more: `--format json` lists them"] if more else []
    return "\n".join(lines) or f"{found.record.id} has to do with no other record"
