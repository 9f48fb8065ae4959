"""`brief --for plan`: what to know before the next run is planned."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from orbit_loop.plan import plan_brief, plan_text, write_plan
from orbit_registry.doors.answers.answer import Answer
from orbit_registry.matching.brief import Brief
from orbit_registry.model.fields import ID
from orbit_registry.registry import Registry
from orbit_registry.workspace.files import resolved


def plan(registry: Registry, request: Mapping[str, Any], out: str | None = None) -> Answer:
    """Return the brief for planning; `request` is that of a brief for the work ahead."""
    records = registry.collection.records  # read once: `Registry.brief` reads anew
    is_about_work = any(request.get(name) for name in ("agent", "task", "text", "paths", "tags"))
    brief: Brief | None = None

    def related() -> Iterator[Mapping[str, Any]]:
        nonlocal brief
        brief = registry.brief(**request)
        for match in brief.selection.matches:
            # A personal record is none of the project's, and --out may be committed.
            for record in records.with_id(match.row.values[ID])[:1]:
                if record.kind.voted:
                    yield {"id": record.id, "summary": record.title, "path": record.path}

    learnings = related if is_about_work else None
    data = plan_brief(registry.workspace, records, datetime.now(UTC), learnings)
    of_work = brief.text() if brief is not None else ""

    notes = [f"warning: {warning}" for warning in data["warnings"]]
    if out is not None:
        is_new = write_plan(resolved(Path(out)), data)
        notes.append(f"{out} {'written' if is_new else 'unchanged'}")

    return Answer(dict(data), plan_text(data, of_work), ["orbit pitch", "orbit review"], notes)
