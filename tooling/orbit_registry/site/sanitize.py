"""Sanitiser and security policy: the only place that decides which HTML a page may hold and which
code it runs.

The theme's inline scripts are allowed by their hash, and no other code.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from html import escape
from itertools import chain
from urllib.parse import urlsplit

import nh3

MARKED = re.compile(
    r"`([^`]{1,200})`|(?<![\w!])\[([^\[\]`]{1,200})\]\([^()\s]{1,300}\)"
    r"|\*\*(?=\S)([^*`]{1,200})(?<=\S)\*\*|(?<![\w*/])\*(?=\w)([^*`]{1,200})(?<=\w)\*(?![\w*/])"
)
"""Code, a link, strong and stressed text in one line."""

_TAGS = {
    *(
        "a",
        "abbr",
        "article",
        "aside",
        "b",
        "blockquote",
        "br",
        "caption",
        "code",
        "dd",
        "del",
        "details",
        "div",
        "dl",
    ),
    *(
        "dt",
        "em",
        "figcaption",
        "figure",
        "footer",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "i",
        "img",
    ),
    *(
        "ins",
        "kbd",
        "li",
        "mark",
        "nav",
        "ol",
        "p",
        "pre",
        "s",
        "section",
        "small",
        "span",
        "strong",
        "sub",
        "summary",
    ),
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


@lru_cache(maxsize=1 << 14)
def headline(text: str) -> str:
    """Return one line of a record as HTML: escaped, with code, strong text,
    and the words alone of links.
    """

    def html(marked: re.Match[str]) -> str:
        code, words, strong, stressed = marked.groups()
        if code:
            return f"<code>{code}</code>"
        if strong:
            return f"<strong>{strong}</strong>"
        return words or f"<em>{stressed}</em>"

    return MARKED.sub(html, escape(text, quote=False))


@lru_cache(maxsize=1 << 14)  # a title is on the pages of all its neighbours
def unmarked(text: str) -> str:
    """Return one line of a record as plain text, without the marks that `headline` draws."""
    return MARKED.sub(lambda marked: next(filter(None, marked.groups())), text)


def clean(html: str) -> str:
    """Return HTML with nothing in it that runs, loads from elsewhere by a script, or frames;
    text is kept.
    """
    return _cleaner().clean(html)


_INLINE = re.compile(
    r"<script(?P<attributes>[^>]*)>(?P<code>.*?)</script>", re.DOTALL | re.IGNORECASE
)
_NO_CODE = ("src=", "application/json", "application/ld+json")
_SCOPE = re.compile(r'new URL\("[^"\\]*",location\)')
_HOST = re.compile(r"https?://[A-Za-z0-9.:-]+")
_HEAD = re.compile(r'<meta charset="utf-8">', re.IGNORECASE)
_POLICY = (
    "default-src 'none'; script-src 'self'{hashes}{hosts}; style-src 'self' "
    "'unsafe-inline'{hosts}; "
    "img-src 'self' data:{hosts}; font-src 'self'{hosts}; connect-src 'self'; worker-src "
    "{workers}; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'"
)
_COMPILED = " 'wasm-unsafe-eval'"
"""What lets a page run WebAssembly, and no text as a script.

Its worker begins as a blob, for a blob has the policy of the page that made it; a worker with
another address has none, and could ask other hosts.
"""


@dataclass(frozen=True, slots=True)
class Policy:
    """The inline scripts that pages may run: those of the empty pages,
    which have no text of a record.
    """

    scripts: frozenset[str]
    hosts: tuple[str, ...] = ()
    """Other hosts that pages may load from: those that a trusted configuration has every page load
    from.
    """

    def applied(self, html: str, *, compiled: bool = False) -> tuple[str, list[str]]:
        """Return a page with its policy, and the inline scripts in it that will not run.

        `compiled` lets the page run WebAssembly, in a worker.
        """
        allowed: list[str] = []
        refused: list[str] = []
        for code in inline_scripts(html):
            (allowed if _general(code) in self.scripts else refused).append(code)

        digests = (hashlib.sha256(code.encode()).digest() for code in dict.fromkeys(allowed))
        hashes = "".join(f" 'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
        hosts, workers = "".join(f" {host}" for host in self.hosts), "'self'" + " blob:" * compiled
        policy = _POLICY.format(hashes=hashes + _COMPILED * compiled, hosts=hosts, workers=workers)
        meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'

        return _HEAD.sub(lambda match: match.group() + meta, html, count=1), refused

    def allowing(self, html: str) -> Policy:
        """Return the policy that also allows the inline scripts of a page of the generator."""
        return replace(
            self, scripts=self.scripts | {_general(code) for code in inline_scripts(html)}
        )


def policy_of(empty_pages: Iterable[str], loaded: Iterable[str] = ()) -> Policy:
    """Return the policy that the generator's empty pages ask for;
    `loaded` are addresses elsewhere that are trusted.
    """
    hosts = {f"{parts.scheme or 'https'}://{parts.netloc}" for parts in map(urlsplit, loaded)}
    safe = tuple(sorted(host for host in hosts if _HOST.fullmatch(host)))
    scripts = chain.from_iterable(map(inline_scripts, empty_pages))
    return Policy(frozenset(map(_general, scripts)), safe)


def inline_scripts(html: str) -> list[str]:
    """Return the code of a page's inline scripts; data in script elements is none."""
    scripts = []
    for match in _INLINE.finditer(html):
        attributes = match["attributes"].lower()
        runs = not any(word in attributes for word in _NO_CODE)
        if runs and match["code"].strip():
            scripts.append(match["code"])

    return scripts


def _general(code: str) -> str:
    """Return a script without the one thing in it that differs by depth:
    the way to the site's root.
    """
    return _SCOPE.sub("new URL(location)", code)
