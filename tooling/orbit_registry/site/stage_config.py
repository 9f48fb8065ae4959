"""Configuration, templates and navigation of the staged tree, from the repository's own or from
ours.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from orbit_registry.errors import UnsafePathError
from orbit_registry.formats.links import is_markdown
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.site import language
from orbit_registry.site.compiled import MKDOCS, use_compiled_templates
from orbit_registry.site.config import (
    HINT,
    MATERIAL,
    MATERIALX,
    SCRIPTS,
    STYLES,
    UserConfig,
    completed_nav,
    default_config,
    files_in,
    overrides,
    staged_config,
    without_missing,
)
from orbit_registry.site.curated import pages_besides
from orbit_registry.site.documents import LEADS_OUT, UNREADABLE
from orbit_registry.site.mark import CARD, MARK, card_png, mark_svg
from orbit_registry.site.output import Output
from orbit_registry.site.prose import DEAD_LINK
from orbit_registry.site.sources import SiteSources
from orbit_registry.workspace.files import inside

DOCS, OVERRIDES, CONFIG = "docs", "overrides", "mkdocs.yml"
MAIN, THEIR_MAIN = "main.html", "orbit-theirs.html"
_PYTHON_NAME = "!!python/name:"


def configure(
    sources: SiteSources,
    out: Output,
    nav: list[Any],
    base_url: str | None,
    problems: list[Diagnostic],
) -> None:
    """Write the templates and the configuration of the staged tree."""
    folder = out.folder / OVERRIDES
    for name, content in sorted(_templates(sources, problems).items()):
        out.write(f"{OVERRIDES}/{name}", content)

    out.write(f"{OVERRIDES}/{language.SCRIPT}", language.script())
    out.write(f"{OVERRIDES}/{CARD}", card_png(sources.title))
    out.write(f"{OVERRIDES}/{MARK}", mark_svg(sources.title))
    if sources.user_config is None:
        base = default_config(sources.title, nav)
    else:
        base = _users_config(sources.user_config, nav, problems)

    base |= sources.header
    base["extra"] = {
        "orbit_release": sources.release,
        "orbit_staged": True,
        "orbit_words": language.words_for_templates(),
    }
    generator = sources.workspace.config.site.get("generator", MKDOCS)
    if sources.user_config is None and generator == MKDOCS:
        use_compiled_templates(base)

    folders = {"docs_dir": DOCS, "site_dir": "site", "custom_dir": str(folder)}
    out.write(CONFIG, dumped(staged_config(base, folders, base_url)))


def _templates(sources: SiteSources, problems: list[Diagnostic]) -> dict[str, bytes]:
    """Return our templates and those of the repository, which replace ours; but our main template
    extends theirs, so that the marks are on every page.
    """
    templates = _tree(overrides())
    theirs = _their_templates(sources, problems)
    if MAIN in theirs:
        theirs[THEIR_MAIN] = theirs[MAIN]
        theirs[MAIN] = templates[MAIN].replace(b'"base.html"', f'"{THEIR_MAIN}"'.encode(), 1)

    return templates | theirs


def _their_templates(sources: SiteSources, problems: list[Diagnostic]) -> dict[str, bytes]:
    config = sources.user_config
    theme = config.data.get("theme") if config else None
    custom = theme.get("custom_dir") if isinstance(theme, dict) else None
    if config is None or not custom:
        return {}
    if (config.file.parent / str(custom)).resolve() == overrides().resolve():
        return {}

    root = sources.workspace.root
    try:
        return _tree(inside(root, config.relative_path(str(custom), root)))
    except UnsafePathError as error:
        message = f"theme.custom_dir is left out: {error.message}"
        where = Location(config.file.name)
        problems.append(Diagnostic(UNREADABLE, Severity.WARNING, message, where, LEADS_OUT))
        return {}


def _users_config(config: UserConfig, nav: list[Any], problems: list[Diagnostic]) -> dict[str, Any]:
    """Return what the staged tree has of the repository's own configuration, besides what it
    inherits.
    """
    theme = config.data.get("theme")
    settings = theme if isinstance(theme, dict) else {"name": theme or "mkdocs"}
    base: dict[str, Any] = {
        "INHERIT": str(config.file),
        "theme": _theme_of(settings, is_trusted=config.is_trusted),
        "nav": nav,
        "extra_css": with_ours(STYLES, config.list_setting("extra_css")),
        "extra_javascript": with_ours(SCRIPTS, config.list_setting("extra_javascript")),
    }
    if config.makes_nav:
        del base["nav"]

    # They are paths from its own folder, which would be looked for in the staged tree.
    if config.data.get("watch"):
        base["watch"] = []

    if config.blocked_reason:
        base["plugins"] = config.list_setting("plugins")
        base["markdown_extensions"] = config.list_setting("markdown_extensions")
        reason = (
            f"its templates, plugins and snippets of files are left out: {config.blocked_reason}"
        )
        where = Location(config.file.name)
        problems.append(Diagnostic(UNREADABLE, Severity.WARNING, reason, where, HINT))

    return base


def with_ours(ours: Sequence[str], theirs: Iterable[object]) -> list[Any]:
    """Return our styles or scripts, then those of the repository."""
    return [*ours, *(each for each in theirs if str(each) not in ours)]


def _theme_of(theme: Mapping[str, Any], *, is_trusted: bool) -> dict[str, Any]:
    """Return the theme's name, without the fonts that Material loads from another host: the pages'
    policy blocks them.
    """
    name = theme.get("name", "material")
    if is_trusted or name not in (MATERIAL, MATERIALX):
        return {"name": name}

    return {"name": name, "font": False}


def dumped(config: Mapping[str, Any]) -> str:
    """Return a configuration as YAML: JSON, but for the functions of Material's,
    which are named as in `mkdocs.yml`.
    """
    names: set[str] = set()  # a text that only looks like one stays a text

    def named(value: object) -> str:
        names.add(name := f"{_PYTHON_NAME}{name_of(value)}")
        return name

    text = json.dumps(config, indent=1, sort_keys=True, default=named)
    for name in names:
        text = text.replace(json.dumps(name), f"{name} ''")

    return text


def completed_navigation(
    sources: SiteSources,
    generated: list[object],
    staged_names: set[str],
    problems: list[Diagnostic],
) -> list[Any]:
    """Return the repository's own navigation with our pages, and without pages that do not exist;
    those are added to the problems.
    """
    config = sources.user_config
    if config is None:
        return [{language.word("nav.home"): "index.md"}, *generated]

    pages = [name for name in config.published(sources.copied) if is_markdown(name)]
    nav = completed_nav(config.list_setting("nav"), pages, generated)
    publication, root = sources.publication, sources.workspace.root
    if config.generates_pages:
        made = {name for name in files_in(nav) if not (root / config.docs / name).exists()}
        staged_names = staged_names | made

    nav, missing = without_missing(nav, staged_names, publication.text)
    where = Location(config.file.relative_to(root).as_posix())
    folders = (*pages_besides(), *(kind.plural for kind in sources.workspace.kinds))
    empty = {f"{name}/index.md" for name in folders}
    for name in missing:
        if name not in empty and not publication.leaves_out(f"{config.docs}/{name}"):
            message = f"the navigation names {name}, which does not exist"
            problems.append(Diagnostic(DEAD_LINK, Severity.WARNING, message, where))

    return nav


def name_of(setting: object) -> str:
    """Return what tells a setting that is no text from another, in every run: a function's name."""
    return (
        f"{getattr(setting, '__module__', '')}"
        f".{getattr(setting, '__qualname__', type(setting).__qualname__)}"
    )


def _tree(source: Path) -> dict[str, bytes]:
    files = (path for path in source.rglob("*") if path.is_file() and not path.is_symlink())
    return {file.relative_to(source).as_posix(): file.read_bytes() for file in files}
