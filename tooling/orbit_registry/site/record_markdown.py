"""A record's page as Markdown: the template of its kind, filled with what its HTML page shows."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from orbit_registry.model.kind import Kind
from orbit_registry.site.filling import environment, filled
from orbit_registry.site.markdown_words import code, escaped, fenced, inline, link
from orbit_registry.site.prose_markdown import Address

TEMPLATE = "page.md"
_UNLED = frozenset({"data", "log", "neighbours", "related"})
"""Parts of a view without an address, or which no Markdown names."""
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
    environment.filters["at"] = lambda words, url: Markup(link(_written(words), url or ""))
    environment.filters["cell"] = lambda text: Markup(_written(text).replace("|", "\\|"))
    environment.filters["code"] = lambda text: Markup(code(str(text)))
    environment.filters["fenced"] = lambda text: _Lines(fenced(str(text)))
    environment.filters["headline"] = lambda text: Markup(inline(str(text)))


def record_markdown(kind: Kind, view: Mapping[str, Any], prose: str, address: Address) -> str:
    """Return a record's page as Markdown; `prose` is its text as Markdown, `address` says how a
    twin names what the page links to.
    """
    values = {
        name: value if name in _UNLED else _led(value, address) for name, value in view.items()
    }
    text = filled(kind, TEMPLATE, _prepare, record=values, body=_Lines(prose))
    return _GAPS.sub("\n\n", text).replace(_LINE, "\n").strip("\n")


def about_markdown(view: Sequence[Any], address: Address) -> str:
    """Return the part below a document as Markdown: who cites it, and records that apply."""
    citers, _, applying = view
    values = {"citers": _led(citers, address), "applying": _led(applying, address)}
    text = environment(".md", _prepare).get_template("about.md").render(values)
    return _GAPS.sub("\n\n", text).strip("\n")


def _led(value: Any, address: Address) -> Any:
    """Return a part of a view whose addresses are those of the twin."""
    if isinstance(value, Mapping):
        return {
            name: address(part) if name == "url" and part else _led(part, address)
            for name, part in value.items()
        }
    if isinstance(value, list | tuple):
        return [_led(part, address) for part in value]

    return value
