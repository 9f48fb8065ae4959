"""Configuration of the generator: our theme,
and what is read of a repository's own `mkdocs.yml`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, cast

from orbit_registry.errors import ConfigError, RefusedError, UnsafePathError
from orbit_registry.formats.yaml import load
from orbit_registry.site import language
from orbit_registry.site.curated import SHELL
from orbit_registry.site.urls import site_address
from orbit_registry.workspace.files import inside, read_text

_PACKAGED = Path(__file__).parent / "overrides"
_CHECKOUT = Path(__file__).parents[3] / "site-overrides"
_DEFAULTS = Path(__file__).with_name("mkdocs.yml")

STYLES = ["assets/orbit/orbit.css"]
MATERIAL, MATERIALX = "material", "materialx"
COLOURS = ("colours.system", "colours.light", "colours.dark")
"""The names of the switches between the palettes, in their order."""
SCRIPTS = [language.SCRIPT, "assets/orbit/orbit.js"]


def overrides() -> Path:
    """Return the folder of our templates and assets:
    inside the wheel, or at the top of a checkout.
    """
    if _PACKAGED.is_dir():
        return _PACKAGED

    return _CHECKOUT


def digest_of_tree(folder: Path) -> str:
    """Return a digest of the files in a folder, by name and content."""
    digest = hashlib.blake2b(digest_size=12)
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(
            file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes() + b"\0"
        )
    return digest.hexdigest()


def default_config(title: str, nav: Sequence[object]) -> dict[str, Any]:
    """Return the configuration for a repository without one."""
    config = cast(dict[str, Any], load(_DEFAULTS.read_text("utf-8")))
    for colours, key in zip(config["theme"]["palette"], COLOURS, strict=True):
        colours["toggle"]["name"] = language.word(key)

    return {
        **config,
        "site_name": escape(title),
        "extra_css": STYLES,
        "extra_javascript": SCRIPTS,
        "nav": list(nav),
    }


def staged_config(
    base: Mapping[str, Any], folders: Mapping[str, str], base_url: str | None
) -> dict[str, Any]:
    """Return a configuration with what the staged tree needs:
    its folders, its address, quiet about our own links.
    """
    theme = base.get("theme", {})
    settings = {"name": theme} if isinstance(theme, str) else dict(theme)
    settings["name"] = _installed_theme(settings.get("name"))
    config = {**base, **folders, "theme": {**settings, "custom_dir": folders["custom_dir"]}}
    del config["custom_dir"]
    if settings["name"] == MATERIALX and config.get("plugins") == ["search"]:
        # Its usual index can't be read; ours has the sections of pages from this one.
        config["plugins"] = [{"search": {"provider": "lunr"}}]

    config.setdefault("use_directory_urls", True)

    if base_url:
        config["site_url"] = base_url.rstrip("/") + "/"

    config["theme"]["language"] = language.current()
    config["theme"].setdefault(
        "variant", "classic"
    )  # Zensical's name for the look that templates and styles are for
    config["not_in_nav"] = f"/{SHELL}/"
    config["validation"] = {
        "nav": {"omitted_files": "ignore", "not_found": "warn", "absolute_links": "ignore"},
        "links": {
            "not_found": "warn",
            "absolute_links": "ignore",
            "unrecognized_links": "ignore",
            "anchors": "ignore",
        },
    }

    return config


def _installed_theme(name: object) -> object:
    """Return a theme's name; of Material the maintained fork, where that alone is installed."""
    installed = entry_points(group="mkdocs.themes").names
    if name == MATERIAL and MATERIAL not in installed and MATERIALX in installed:
        return MATERIALX

    return name


FILE = "mkdocs.yml"
HARMLESS = frozenset({"search", "orbit", "tags", "meta", "offline", "blog", "typeset"})
"""Plugins of the generator that run no code of the repository; any other may."""
READING = frozenset({"pymdownx.snippets", "pymdownx.b64"})
"""Markdown extensions that put files into a page, wherever a path or a symbolic link leads."""
HINT = "`mkdocs build` with the orbit plugin runs your own configuration in full"
_PYTHON = "tag:yaml.org,2002:python/"
_HARMLESS = re.compile(r"(?:material\.extensions\.emoji|pymdownx)(?:\.\w+)+")
"""Functions that Material's documentation tells users to name: they draw emoji and fences."""

NAV_MAKERS = frozenset(
    {"awesome-nav", "awesome-pages", "i18n", "literate-nav", "mkdocs-nav-weight"}
)
"""Plugins that work the navigation out from the files, where `mkdocs.yml` states none."""


@dataclass(frozen=True, slots=True)
class UserConfig:
    """A repository's own site: its file, the folder of its pages,
    and the settings that we add to.
    """

    file: Path
    docs: str  # the folder of pages, from the repository's root
    data: dict[str, Any]
    # whether MkDocs runs it in full anyway: what its pages load and run is its own business
    is_trusted: bool = False
    blocked_reason: str = ""  # why its code is not used; empty if it is

    @property
    def code_settings(self) -> tuple[str, ...]:
        """Settings that run code or read any file: templates, plugins and extensions."""
        theirs = [entry for entry in _plugins(self.data) if not _is_harmless(entry)]
        theirs += [
            entry for entry in _entries(self.data, "markdown_extensions") if _name(entry) in READING
        ]
        custom = _custom(self.data)
        ours = custom and (self.file.parent / custom).resolve() == overrides().resolve()
        templates = [f"theme.custom_dir: {custom}"] if custom and not ours else []

        if templates:
            files = filter(Path.is_file, (self.file.parent / custom).rglob("*"))
            templates += sorted(self.relative_path(str(file), self.file.parent) for file in files)

        return (*templates, *(json.dumps(entry, sort_keys=True, default=str) for entry in theirs))

    def without_code(self, reason: str) -> UserConfig:
        """Return the configuration without code: no templates,
        and only harmless plugins and extensions.
        """
        theme = self.data.get("theme")
        if isinstance(theme, dict):
            safe_theme = {"name": "material", **theme}
        else:
            safe_theme = {"name": theme or "material"}

        safe_theme = {**safe_theme, "name": safe_theme["name"] or "material", "custom_dir": None}
        plugins = [*filter(_is_harmless, _plugins(self.data))]
        extensions = [
            entry
            for entry in _entries(self.data, "markdown_extensions")
            if _name(entry) not in READING
        ]
        remaining = {"theme": safe_theme, "plugins": plugins, "markdown_extensions": extensions}

        return replace(self, data={**self.data, **remaining}, blocked_reason=reason)

    @property
    def address(self) -> str | None:
        """The address of the site, if the configuration states one."""
        url = str(self.data.get("site_url") or "")
        if url.startswith(("http://", "https://")):
            return site_address(url)

        return None

    @property
    def directories(self) -> bool:
        """Whether a page is a folder with an `index.html`."""
        return self.data.get("use_directory_urls", True) is not False

    @property
    def makes_nav(self) -> bool:
        """Whether a plugin makes the navigation, which a `nav` setting would replace."""
        return not self.list_setting("nav") and any(
            _name(entry) in NAV_MAKERS for entry in _plugins(self.data)
        )

    @property
    def generates_pages(self) -> bool:
        """Whether a plugin or hook that runs may add pages,
        so that a page without a file may exist.
        """
        runs_code = bool(self.data.get("hooks")) or not all(map(_is_harmless, _plugins(self.data)))
        return runs_code and not self.blocked_reason

    @property
    def nav_file(self) -> str:
        """The name of files that state a navigation as a list of links;
        empty where there is no plugin for them.
        """
        plugin = next(
            (entry for entry in _plugins(self.data) if _name(entry) == "literate-nav"), None
        )
        settings = plugin.get("literate-nav") if isinstance(plugin, dict) else {}
        if isinstance(settings, dict):
            name = settings.get("nav_file", "SUMMARY.md")
        else:
            name = "SUMMARY.md"

        if plugin is None:
            return ""

        return str(name)

    def published(self, names: Iterable[str]) -> list[str]:
        """Return those of the files in the folder of pages that MkDocs publishes."""
        from pathspec.gitignore import GitIgnoreSpec  # most repositories have no pages of their own

        patterns = ["/templates/"]
        for key in ("exclude_docs", "draft_docs"):
            patterns += str(self.data.get(key) or "").splitlines()

        left_out = GitIgnoreSpec.from_lines(patterns)
        return [name for name in names if not left_out.match_file(name)]

    def relative_path(self, path: str, root: Path) -> str:
        """Return the path of a file that a setting names, from the repository's root."""
        return os.path.relpath(self.file.parent / path, root).replace(os.sep, "/")

    def list_setting(self, name: str) -> list[Any]:
        """Return a setting that is a list; empty where it is absent."""
        value = self.data.get(name)
        if isinstance(value, list):
            return list(value)

        return []


def _entries(data: Mapping[str, Any], key: str) -> list[object]:
    """Return plugins or extensions, each a name or a table of one;
    MkDocs takes a table of all too.
    """
    value = data.get(key)
    entries = (
        [{name: settings} for name, settings in value.items()] if isinstance(value, dict) else value
    )
    return entries if isinstance(entries, list) else []


def _plugins(data: Mapping[str, Any]) -> list[object]:
    if data.get("plugins") is not None:
        return _entries(data, "plugins")

    return ["search"]


def _name(entry: object) -> str:
    return str(next(iter(entry), "") if isinstance(entry, dict) else entry)


def _is_harmless(entry: object) -> bool:
    return _name(entry).removeprefix("material/") in HARMLESS


def _custom(data: Mapping[str, Any]) -> str:
    theme = data.get("theme")
    if isinstance(theme, dict):
        return str(theme.get("custom_dir") or "")

    return ""


def read_user_config(
    root: Path, file: Path | None = None, *, trusted: bool = False
) -> UserConfig | None:
    """Return the repository's own configuration, or None where it has none.

    `trusted` says that MkDocs has loaded the file already, so that what runs code in it has run.
    """
    file = file or root / FILE
    if not file.is_file():
        return None

    from mkdocs.exceptions import ConfigurationError  # most repositories have no such file
    from mkdocs.utils.yaml import yaml_load

    try:
        if not trusted:
            _refuse_code(root, file)
        with file.open("rb") as opened:
            data = _table(file, yaml_load(opened))
    except (ConfigurationError, OSError, ValueError, TypeError, RecursionError) as error:
        message = " ".join(str(error).split())
        raise ConfigError(f"{FILE}: {message}", hint="`mkdocs build` says more") from None

    config = UserConfig(file, "", data, trusted)
    docs = config.relative_path(str(data.get("docs_dir", "docs")), root)
    if docs == ".":
        message = f"{FILE}: docs_dir {docs!r} is not a folder inside the repository"
        raise ConfigError(message, hint="name a folder below the repository's root, such as `docs`")

    _refuse_outside(root, "docs_dir", docs)
    custom = _custom(data)
    if custom and not trusted:
        _refuse_outside(root, "theme.custom_dir", config.relative_path(custom, root))

    return replace(config, docs=docs)


def _refuse_code(root: Path, file: Path) -> None:
    """Refuse a configuration that runs Python, before anything of it is made;
    files it inherits from as well.
    """
    from mkdocs.utils.yaml import get_yaml_loader, yaml_load

    loader = get_yaml_loader()
    for prefix in [
        name for name in loader.yaml_multi_constructors if str(name).startswith(_PYTHON)
    ]:
        harmless = loader.yaml_multi_constructors[prefix]
        loader.add_multi_constructor(
            prefix, partial(_python, prefix.removeprefix(_PYTHON), harmless)
        )

    visited: set[Path] = set()
    while file not in visited:
        visited.add(file)
        data = _table(file, yaml_load(read_text(file), loader))
        if data.get("hooks"):
            raise _refused("hooks", "runs Python code of the repository")
        if "INHERIT" not in data:
            return

        name = os.path.relpath(file.parent / str(data["INHERIT"]), root).replace(os.sep, "/")
        _refuse_outside(root, "INHERIT", name)
        file = root / name

    raise ConfigError(
        f"{file.name}: INHERIT leads in a circle", hint="take INHERIT out of one of the files"
    )


def _table(file: Path, data: object) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise ConfigError(f"{file.name}: not a table of settings", hint="`mkdocs build` says more")
    return data


def _python(
    prefix: str, harmless: Callable[..., object], loader: object, name: str, node: object
) -> object:
    if prefix != "name:" or not _HARMLESS.fullmatch(name):
        raise _refused(f"!!python/{prefix}{name}", "runs Python code")
    return harmless(loader, name, node)


def _refuse_outside(root: Path, key: str, path: str) -> None:
    try:
        inside(root, path)
    except UnsafePathError as error:
        raise _refused(key, f"leads out of the repository: {error.message}") from None


def _refused(key: str, reason: str) -> RefusedError:
    return RefusedError(f"{FILE}: {key} {reason}", hint=HINT)


def completed_nav(
    existing: Sequence[object], pages: Sequence[str], generated: Sequence[object]
) -> list[object]:
    """Return a repository's navigation, or one made of its `pages`,
    with the generated entries it lacks.
    """
    from mkdocs.utils import nest_paths

    nav = list(existing) or nest_paths(pages)
    return [*nav, *without_listed(generated, {*files_in(nav)})]


def without_listed(entries: Sequence[object], listed: Set[str]) -> list[object]:
    """Return generated entries without the pages that a navigation names;
    a group of one page becomes that page.
    """
    remaining: list[object] = []
    for entry in entries:
        ((title, value),) = entry.items() if isinstance(entry, dict) else [("", entry)]
        if not isinstance(value, list):
            remaining += [] if value in listed else [entry]
        elif len(below := without_listed(value, listed)) > 1 or below == value:
            remaining.append({title: below})
        else:
            remaining += below

    return remaining


def files_in(entries: Sequence[object]) -> Iterator[str]:
    """Yield every page that a navigation names."""
    for entry in entries:
        if isinstance(entry, str):
            yield entry
        elif isinstance(entry, dict):
            for value in entry.values():
                yield from files_in(value if isinstance(value, list) else [value])


def without_missing(
    entries: Sequence[object], pages: Set[str], readable: Callable[[str], str] = str
) -> tuple[list[object], list[str]]:
    """Return a navigation without the pages that do not exist, and those;
    addresses elsewhere stay.
    """
    remaining: list[object] = []
    missing: list[str] = []
    for entry in entries:
        if isinstance(entry, str):
            exists = entry in pages or "://" in entry or entry.startswith("/")
            (remaining if exists else missing).append(entry)
        elif isinstance(entry, dict):
            inner: dict[object, object] = {}
            for title, value in entry.items():
                below, absent = without_missing(
                    value if isinstance(value, list) else [value], pages, readable
                )
                missing += absent
                if below:
                    inner[readable(str(title))] = below if isinstance(value, list) else below[0]

            if inner:
                remaining.append(inner)

    return remaining, missing
