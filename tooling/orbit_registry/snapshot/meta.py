"""What a snapshot says of itself; it opens no database."""

from __future__ import annotations

from datetime import UTC, datetime

from orbit_registry.model.votes import format_time
from orbit_registry.repository.votes import half_life_days
from orbit_registry.workspace.workspace import Workspace

FORMAT_VERSION = 6


def meta_of(workspace: Workspace, commit: str | None) -> dict[str, str | None]:
    """Return what a snapshot made now at a commit says of itself."""
    return {
        "format_version": str(FORMAT_VERSION),
        "project": workspace.name,
        "built_at": format_time(datetime.now(UTC)),
        "commit": commit,
        "tool_version": _version(),
        "half_life_days": str(half_life_days()),
    }


def _version() -> str | None:
    from importlib.metadata import PackageNotFoundError, version  # a reader of mail comes with it: 0.02 s

    try:
        return version("orbit-registry")
    except PackageNotFoundError:
        return None
