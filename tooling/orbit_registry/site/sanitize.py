"""Sanitiser: the only place that decides which HTML a page may hold."""

import re
from functools import cache
from html import escape

import nh3

_CODE = re.compile(r"`([^`]{1,200})`")

_TAGS = {
    *("a", "abbr", "article", "aside", "b", "blockquote", "br", "caption", "code", "dd", "del", "details", "div", "dl"),
    *("dt", "em", "figcaption", "figure", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "i", "img"),
    *("ins", "kbd", "li", "mark", "nav", "ol", "p", "pre", "s", "section", "small", "span", "strong", "sub", "summary"),
    *("sup", "table", "tbody", "td", "th", "thead", "time", "tr", "ul", "wbr"),
}
_ATTRIBUTES = {
    "*": {"class", "id", "title", "aria-label", "aria-hidden", "dir", "role"},
    "a": {"href", "rel", "aria-describedby"},
    "img": {"src", "alt", "width", "height", "loading"},
    "td": {"colspan", "rowspan", "style"},
    "th": {"colspan", "rowspan", "scope", "style"},
    "ol": {"start"},
    "time": {"datetime"},
    "details": {"open"},
    **{f"h{level}": {"data-search-exclude"} for level in range(1, 7)},
}
_SCHEMES = {"http", "https", "mailto"}


@cache
def _cleaner() -> nh3.Cleaner:
    return nh3.Cleaner(
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes=_SCHEMES,
        link_rel=None,
        filter_style_properties={"text-align"},
        clean_content_tags={"script", "style"},
    )


def headline(text: str) -> str:
    """Return one line of a record as HTML: escaped, with text between backticks as code."""
    return _CODE.sub(r"<code>\1</code>", escape(text, quote=False))


def clean(html: str) -> str:
    """Return HTML with nothing in it that runs, loads from elsewhere by a script, or frames; text is kept."""
    return _cleaner().clean(html)
