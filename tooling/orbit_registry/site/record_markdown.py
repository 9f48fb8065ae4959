"""A record's page as Markdown: the template of its kind, filled with what its HTML page shows."""

import re
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from orbit_registry.model.kind import Kind
from orbit_registry.site.filling import environment, filled
from orbit_registry.site.markdown_words import code, escaped, fenced, inline, link
from orbit_registry.site.prose_markdown import Address

TEMPLATE = "page.md"
_address: ContextVar[Address] = ContextVar("address")
"""How the twin that is made names what its page links to."""
_GAPS = re.compile(r"\n{3,}")
_LINE = "\x01"
"""The end of a line that is taken over with its blanks: of prose and of code."""


class _Lines(str):
    """Text of several lines that is Markdown already."""


def _written(value: object) -> Markup:
    """Return a value of a template as Markdown: text means itself, and is one line."""
    if isinstance(value, _Lines):
        return Markup(value.replace("\n", _LINE))
    if isinstance(value, Markup):
        return value

    return Markup(escaped(" ".join(str(value).split())))


def _prepare(environment: Environment) -> None:
    environment.finalize = _written
    environment.trim_blocks = environment.lstrip_blocks = True
    environment.filters["at"] = _at
    environment.filters["cell"] = lambda text: Markup(_written(text).replace("|", "\\|"))
    environment.filters["code"] = lambda text: Markup(code(str(text)))
    environment.filters["fenced"] = lambda text: _Lines(fenced(str(text)))
    environment.filters["headline"] = lambda text: Markup(inline(str(text)))


def _at(words: object, url: str | None) -> Markup:
    """Return words as a link to what a page names so."""
    return Markup(link(_written(words), _address.get()(url) if url else ""))


def record_markdown(kind: Kind, view: Mapping[str, Any], prose: str, address: Address) -> str:
    """Return a record's page as Markdown; `prose` is its text as Markdown, `address` says how a
    twin names what the page links to.
    """
    _address.set(address)
    text = filled(kind, TEMPLATE, _prepare, record=view, body=_Lines(prose))
    return _GAPS.sub("\n\n", text).replace(_LINE, "\n").strip("\n")


def about_markdown(view: Sequence[Any], address: Address) -> str:
    """Return the part below a document as Markdown: who cites it, and records that apply."""
    _address.set(address)
    citers, _, applying = view
    about = environment(".md", _prepare).get_template("about.md")
    return _GAPS.sub("\n\n", about.render(citers=citers, applying=applying)).strip("\n")
