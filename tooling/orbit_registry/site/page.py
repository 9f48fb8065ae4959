"""HTML of a record's page: the template of its kind, its prose, drawings; sanitised."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import DictLoader, Template, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from orbit_registry.errors import ConfigError
from orbit_registry.model.kind import Kind
from orbit_registry.site.documents import contents
from orbit_registry.site.drawing import sparkline
from orbit_registry.site.prose import Heading
from orbit_registry.site.sanitize import clean, headline

_FOLDER = Path(__file__).parent / "templates"
TEMPLATE = "page.html"
_SPARKLINE = '<span class="orbit-sparkline"></span>'  # marker for the drawing of votes


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    templates = {file.name: file.read_text("utf-8") for file in sorted(_FOLDER.glob("*.html"))}
    environment = ImmutableSandboxedEnvironment(loader=DictLoader(templates), autoescape=True)
    environment.filters["headline"] = lambda text: Markup(headline(str(text)))
    return environment


@cache
def _template(kind_folder: Path) -> Template:
    file = kind_folder / TEMPLATE
    try:
        if file.is_file():
            return _environment().from_string(file.read_text("utf-8"))
        return _environment().get_template("record.html")
    except (TemplateError, OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: {error}", hint="compare with a shipped page.html") from None


def templates_digest(kinds: Sequence[Kind]) -> str:
    """Return a digest of every template that makes a record's page, and of the words that its kind puts there."""
    digest = hashlib.blake2b(digest_size=12)
    files = [
        *sorted(_FOLDER.glob("*.html")),
        *(kind.folder / name for kind in kinds for name in (TEMPLATE, "kind.yaml")),
    ]
    for file in files:
        digest.update(file.read_bytes() if file.is_file() else b"-")
    return digest.hexdigest()


def article(kind: Kind, view: dict[str, Any], prose_html: str) -> str:
    """Return a record's article as safe HTML: every text is escaped by the template, all of it sanitised after."""
    try:
        heading = Markup(headline(str(view["title"])))
        html = _template(kind.folder).render(record=view, body=Markup(prose_html), heading=heading)
    except (TemplateError, TypeError) as error:
        raise ConfigError(f"{kind.folder / TEMPLATE}: {error}", hint="compare with a shipped page.html") from None
    html = clean(html)
    # The sanitiser lets no drawing through. Ours is made of numbers; prose, which is above, may have a marker too.
    before, marker, after = html.rpartition(_SPARKLINE)
    return f"{before}{_votes_drawn(view)}{after}" if marker else html


def about(cited: Mapping[str, Any], neighbours: Sequence[Mapping[str, Any] | None], applying: Sequence[Any]) -> str:
    """Return the part below a document as safe HTML: records that apply, citations, previous and next page."""
    module: Any = _environment().get_template("parts.html").module
    return clean(str(module.about(cited, neighbours, applying)))


def _votes_drawn(view: Mapping[str, Any]) -> str:
    if not (votes := view["votes"]):
        return ""
    months: list[int] = votes["months"]
    year, month = (int(part) for part in votes["until"].split("-"))
    numbered = enumerate(months, year * 12 + month - len(months))
    words = ", ".join(f"{count} in {month // 12}-{month % 12 + 1:02d}" for month, count in numbered if count)
    return sparkline(months, f"Votes a month, the last {len(months)} months: {words or 'none'}")


def contents_html(headings: Sequence[Heading]) -> str:
    """Return a page's contents as the theme marks them up; nothing where there are fewer than two headings."""
    entries = contents(headings)
    if len(entries) < 2:
        return ""
    items = "".join(_entry(entry) for entry in entries)
    return (
        '<label class="md-nav__title" for="__toc"><span class="md-nav__icon md-icon"></span>On this page</label>'
        f'<ul class="md-nav__list" data-md-component="toc" data-md-scrollfix>{items}</ul>'
    )


def _entry(entry: dict[str, object]) -> str:
    inner = entry["children"]
    below = "".join(_entry(child) for child in inner) if isinstance(inner, list) else ""
    nested = f'<nav class="md-nav"><ul class="md-nav__list">{below}</ul></nav>' if below else ""
    title = f'<span class="md-ellipsis">{entry["title"]}</span>'
    link = f'<a href="{escape(str(entry["url"]))}" class="md-nav__link">{title}</a>'
    return f'<li class="md-nav__item">{link}{nested}</li>'
