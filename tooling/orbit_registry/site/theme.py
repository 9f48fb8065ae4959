"""Owns the generator's configuration for a repository without one, and what ours adds to a repository's own."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from orbit_registry.site.pages import SHELL

_PACKAGED = Path(__file__).parent / "overrides"
_CHECKOUT = Path(__file__).parents[3] / "site-overrides"

PALETTE = [
    {
        "media": "(prefers-color-scheme)",
        "primary": "custom",
        "accent": "custom",
        "toggle": {"icon": "material/brightness-auto", "name": "Colours: as the system; switch to light"},
    },
    {
        "media": "(prefers-color-scheme: light)",
        "scheme": "default",
        "primary": "custom",
        "accent": "custom",
        "toggle": {"icon": "material/weather-sunny", "name": "Colours: light; switch to dark"},
    },
    {
        "media": "(prefers-color-scheme: dark)",
        "scheme": "slate",
        "primary": "custom",
        "accent": "custom",
        "toggle": {"icon": "material/weather-night", "name": "Colours: dark; switch to the system's"},
    },
]
FEATURES = [
    "navigation.indexes",
    "navigation.prune",
    "navigation.top",
    "navigation.footer",
    "toc.follow",
    "content.code.copy",
]
EXTENSIONS: list[Any] = [
    "admonition",
    "attr_list",
    "def_list",
    "tables",
    {"toc": {"permalink": True}},
    {"pymdownx.highlight": {"anchor_linenums": False}},
    "pymdownx.superfences",
]
STYLES = ["assets/orbit/orbit.css"]
SCRIPTS = ["assets/orbit/orbit.js"]


def overrides() -> Path:
    """Return the folder of our templates and assets: inside the wheel, or at the top of a checkout."""
    return _PACKAGED if _PACKAGED.is_dir() else _CHECKOUT


def digest_of_tree(folder: Path) -> str:
    """Return a digest of the files in a folder, by name and content."""
    digest = hashlib.blake2b(digest_size=12)
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def built_in(title: str, nav: Sequence[object]) -> dict[str, Any]:
    """Return the configuration for a repository that has none of its own."""
    return {
        "site_name": escape(title),
        "theme": {
            "name": "material",
            "font": False,
            "language": "en",
            "logo": "assets/orbit/logo.svg",
            "favicon": "assets/orbit/favicon.svg",
            "palette": PALETTE,
            "features": FEATURES,
        },
        "plugins": ["search"],
        "markdown_extensions": EXTENSIONS,
        "extra_css": STYLES,
        "extra_javascript": SCRIPTS,
        "nav": list(nav),
    }


def staged(base: Mapping[str, Any], folders: Mapping[str, str], base_url: str | None) -> dict[str, Any]:
    """Return a configuration with what the staged tree needs: its folders, its address, quiet about our own links."""
    theme = base.get("theme", {})
    named = {"name": theme} if isinstance(theme, str) else dict(theme)
    config = {**base, **folders, "theme": {**named, "custom_dir": folders["custom_dir"]}}
    del config["custom_dir"]
    config.setdefault("use_directory_urls", True)
    if base_url:
        config["site_url"] = base_url.rstrip("/") + "/"
    config["theme"].setdefault("variant", "classic")  # Zensical's name for the look that templates and styles are for
    config["not_in_nav"] = f"/{SHELL}/"
    config["validation"] = {
        "nav": {"omitted_files": "ignore", "not_found": "warn", "absolute_links": "ignore"},
        "links": {"not_found": "warn", "absolute_links": "ignore", "unrecognized_links": "ignore", "anchors": "ignore"},
    }
    return config
