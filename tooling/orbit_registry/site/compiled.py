"""Templates that were compiled, ours and those of the theme, for all projects of a user."""

import contextlib
from importlib.metadata import version
from pathlib import Path
from typing import Any

from orbit_registry.workspace.workspace import is_writable, user_cache

MKDOCS = "mkdocs"
_HOOK = Path(__file__).with_name("generator_hook.py")


def compiled_folder() -> str | None:
    """Return where compiled templates are; None where no file can be written there."""
    folder = user_cache() / "templates"
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)

    is_usable = folder.is_dir() and is_writable(folder)
    if is_usable:
        return str(folder)

    return None


def use_compiled_templates(settings: dict[str, Any]) -> None:
    """Let MkDocs find the theme's templates compiled: to compile them takes a third of its run."""
    folder = compiled_folder()
    if folder is not None:
        # Another version may compile the same templates with other settings.
        names = f"{MKDOCS}-{version(MKDOCS)}-%s"
        settings["hooks"] = [str(_HOOK)]
        settings["extra"]["orbit_compiled"] = [folder, names]
