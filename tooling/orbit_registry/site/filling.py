"""Templates of pages: those of a kind, which may come with the repository, and ours."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import (
    BytecodeCache,
    DictLoader,
    Environment,
    FileSystemBytecodeCache,
    Template,
    TemplateError,
)
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from orbit_registry.errors import ConfigError
from orbit_registry.model.kind import SHIPPED, Kind
from orbit_registry.site.compiled import compiled_folder
from orbit_registry.site.language import capital, counted, digits, word
from orbit_registry.site.sanitize import headline
from orbit_registry.site.stamps import stamp_of
from orbit_registry.site.words import chip, record_link

FOLDER = Path(__file__).parent / "templates"
Prepare = Callable[[Environment], None]
"""Gives an environment what the templates of one language use."""


def prepare_html(environment: Environment) -> None:
    """Give an environment what the templates of HTML use."""
    environment.filters["headline"] = lambda text: Markup(headline(str(text)))
    words = {"word": word, "counted": counted, "digits": digits, "capital": capital, "quote": quote}
    environment.globals |= words
    environment.globals["link"] = lambda record, page: Markup(record_link(record, page))
    environment.globals["chip"] = lambda record: Markup(chip(record))


def html_part(name: str, /, **values: Any) -> str:
    """Return a part of a page: our template of that name, filled with values."""
    return environment(".html", prepare_html).get_template(name).render(values)


def macros(name: str) -> Any:
    """Return the functions of one of our templates, which make parts of a page."""
    return environment(".html", prepare_html).get_template(name).module


def filled(kind: Kind, name: str, prepare: Prepare, **values: Any) -> str:
    """Return a page of a kind: its template `name`, such as `page.html`, else ours for all kinds,
    filled with values.
    """
    file = kind.folder / name
    try:
        return _template(file, prepare).render(values)
    except (TemplateError, OSError, UnicodeDecodeError, TypeError) as error:
        raise ConfigError(f"{file}: {error}", hint=f"compare with a shipped {name}") from None


@cache
def _template(file: Path, prepare: Prepare) -> Template:
    if not file.is_file():
        return environment(file.suffix, prepare).get_template(f"record{file.suffix}")
    if file.is_relative_to(SHIPPED):
        return environment(file.suffix, prepare).get_template(_name_of(file))

    theirs = environment(file.suffix, prepare, is_sandboxed=True)
    return theirs.from_string(file.read_text("utf-8"))


@cache
def environment(suffix: str, prepare: Prepare, *, is_sandboxed: bool = False) -> Environment:
    """Return what reads the templates of a language: a template of the repository runs nothing."""
    files = (*FOLDER.glob(f"*{suffix}"), *SHIPPED.glob(f"*/page{suffix}"))
    loader = DictLoader({_name_of(file): file.read_text("utf-8") for file in files})
    kind = ImmutableSandboxedEnvironment if is_sandboxed else Environment
    chosen = kind(loader=loader, autoescape=True, auto_reload=False)
    chosen.bytecode_cache = None if is_sandboxed else _compiled()
    prepare(chosen)
    # Every template can use the macros of this one; to import it took a fiftieth of a build.
    parts = chosen.get_template(f"parts{suffix}").module
    chosen.globals |= {name: part for name, part in vars(parts).items() if name[0] != "_"}
    return chosen


def _name_of(file: Path) -> str:
    if file.parent == FOLDER:
        return file.name

    return f"{file.parent.name}/{file.name}"


def _compiled() -> BytecodeCache | None:
    """Return where our templates are once they were compiled, which takes a tenth of a small build;
    None where no file can be written there.
    """
    folder = compiled_folder()
    # Of another version the same templates may be compiled with other settings.
    names = f"{stamp_of(__file__)}-%s"
    if folder:
        return FileSystemBytecodeCache(folder, names)

    return None
