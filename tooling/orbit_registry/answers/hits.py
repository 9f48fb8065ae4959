"""What a search found, as JSON shows it and as people read it; bodies are for `show`."""

from __future__ import annotations

from orbit_registry.search.hits import Hit, SearchResult


def result_data(result: SearchResult) -> dict[str, object]:
    """Return what was found as JSON shows it."""
    hits = [hit_data(hit) for hit in result.hits]
    return {"hits": hits, "omitted": result.omitted, "unknown": list(result.unknown)}


def hit_data(hit: Hit) -> dict[str, object]:
    """Return a hit as JSON shows it; the whole record is for `show`."""
    record = hit.record
    return {
        "id": record.id,
        "score": round(hit.score, 4),
        "title": record.title,
        "kind": record.kind.name,
        "snippet": hit.snippet,
    }


def result_text(result: SearchResult) -> str:
    """Return what was found as people read it."""
    if not result.hits:
        return "nothing found"
    lines = []
    for hit in result.hits:
        lines.append(f"{hit.score:.2f}  {hit.record.id}  {hit.record.title}")
        if hit.snippet != hit.record.title:
            lines.append(f"      {hit.snippet}")
    more = "1 more hit" if result.omitted == 1 else f"{result.omitted} more hits"
    return "\n".join([*lines, *([f"and {more}: --limit shows them"] if result.omitted else [])])
