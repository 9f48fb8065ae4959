"""Owns the empty page that records are put into: cut once a depth, then joined; every text it is given is finished."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

from orbit_registry.errors import OrbitError
from orbit_registry.site.csp import Policy
from orbit_registry.site.pages import SHELL, SHELL_DEPTHS, shell_url
from orbit_registry.site.urls import file_of

_VERBATIM = re.compile(r"(<(?:pre|script|style|textarea)\b.*?</(?:pre|script|style|textarea)>)", re.DOTALL)
_INDENTED = re.compile(r"[ \t\r]*\n\s*")
"""The theme's indentation, a quarter of a record's page; a line's end is left, which is a space like any other."""
_MARK = re.compile(r"@@orbit:(title|description|address|toc|content)@@")
_CONTENT = re.compile(r"<h1[^>]*>\s*@@orbit:content@@.*?</h1>", re.DOTALL)
"""The place for content where the theme renders the empty page like any other: as a heading, so that it adds none."""
_EDITS = re.compile(rf"<a\b[^>]*{SHELL}/[^>]*>.*?</a>", re.DOTALL)
"""What the theme offers to edit or view: the empty page's source, which is nobody's."""


class ShellError(OrbitError):
    """The theme gave no page that records can be put into."""

    exit_code = 3


@dataclass(frozen=True, slots=True)
class Shell:
    """The empty page of one depth: its parts, and between them the names of what is put there, in the theme's order."""

    parts: tuple[str, ...]
    order: tuple[str, ...]

    def under(self, index: str) -> Shell:
        """Return the shell with the navigation's entry for a page, named as the shell names it, marked as current."""
        plain = f'<a href="{escape(index)}" class="md-nav__link">'
        marked = f'<a href="{escape(index)}" class="md-nav__link md-nav__link--active">'
        return replace(self, parts=tuple(part.replace(plain, marked) for part in self.parts))

    def page(
        self, url: str, title: str, content: str, toc: str, base_url: str | None, description: str | None = None
    ) -> str:
        """Return a page; `title` and `description` are text, `content` and `toc` are safe HTML."""
        given = {
            "title": escape(title),
            "description": escape(description or title),
            "address": escape(address_of(base_url, url)),
            "toc": toc,
            "content": content,
        }
        out = [self.parts[0]]
        for mark, part in zip(self.order, self.parts[1:], strict=True):
            out += [given[mark], part]
        return "".join(out)


def address_of(base_url: str | None, url: str) -> str:
    """Return a page's address on the web; from the site's root where nobody said where the site stands."""
    return f"{base_url.rstrip('/')}/{url}" if base_url else url


def empty_pages(generated: Path) -> dict[int, str]:
    """Return the generator's empty pages by depth, as they are.

    Raises:
        ShellError: one is missing.
    """
    try:
        return {depth: (generated / file_of(shell_url(depth))).read_text("utf-8") for depth in SHELL_DEPTHS}
    except OSError as error:
        said = f"the generator made no empty page: {error.filename}"
        raise ShellError(said, hint="delete the folder `.orbit/state/cache`, then build again") from None


def shells_of(pages: dict[int, str], policy: Policy, base_url: str | None) -> dict[int, Shell]:
    """Return the shells by depth, each with its policy.

    Raises:
        ShellError: a page lacks a place to put something.
    """
    return {depth: _cut(policy.applied(html)[0], shell_url(depth), base_url) for depth, html in pages.items()}


def _cut(html: str, url: str, base_url: str | None) -> Shell:
    parted = _VERBATIM.split(html)
    parted[::2] = [_INDENTED.sub("\n", part) for part in parted[::2]]
    html = _EDITS.sub("", "".join(parted))
    if base_url:
        html = html.replace(escape(address_of(base_url, url)), "@@orbit:address@@")
    parts = _MARK.split(_CONTENT.sub("@@orbit:content@@", html, count=1))
    if "content" not in parts[1::2]:
        raise ShellError(
            "the theme's page has no place for records", hint="let its templates print `page.content` where others do"
        )
    return Shell(tuple(parts[::2]), tuple(parts[1::2]))
