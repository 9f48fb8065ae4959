"""Templates of pages: those of a kind, which may come with the repository, and ours."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import DictLoader, Environment, Template, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from orbit_registry.errors import ConfigError
from orbit_registry.model.kind import SHIPPED, Kind
from orbit_registry.site.language import capital, counted, digits, word
from orbit_registry.site.sanitize import headline

FOLDER = Path(__file__).parent / "templates"
Prepare = Callable[[Environment], None]
"""Gives an environment what the templates of one language use."""


def prepare_html(environment: Environment) -> None:
    """Give an environment what the templates of HTML use."""
    environment.filters["headline"] = lambda text: Markup(headline(str(text)))
    words = {"word": word, "counted": counted, "digits": digits, "capital": capital}
    environment.globals |= words


def html_part(name: str, **values: Any) -> str:
    """Return a part of a page: our template of that name, filled with values."""
    return environment(".html", prepare_html).get_template(name).render(values)


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
    is_ours = file.is_relative_to(SHIPPED)
    if file.is_file():
        chosen = environment(file.suffix, prepare, is_sandboxed=not is_ours)
        return chosen.from_string(file.read_text("utf-8"))

    return environment(file.suffix, prepare).get_template(f"record{file.suffix}")


@cache
def environment(suffix: str, prepare: Prepare, *, is_sandboxed: bool = False) -> Environment:
    """Return what reads the templates of a language: a template of the repository runs nothing."""
    files = sorted(FOLDER.glob(f"*{suffix}"))
    loader = DictLoader({file.name: file.read_text("utf-8") for file in files})
    kind = ImmutableSandboxedEnvironment if is_sandboxed else Environment
    chosen = kind(loader=loader, autoescape=True)
    prepare(chosen)
    return chosen
