"""Owns the empty page that records are put into: cut once a depth, then joined; every text it is given is finished."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

from orbit_registry.errors import OrbitError
from orbit_registry.site.csp import Policy
from orbit_registry.site.pages import SHELL_DEPTHS, shell_url
from orbit_registry.site.urls import file_of

_VERBATIM = re.compile(r"(<(?:pre|script|style|textarea)\b.*?</(?:pre|script|style|textarea)>)", re.DOTALL)
_INDENTED = re.compile(r"[ \t\r]*\n\s*")
"""The theme's indentation, a quarter of a record's page; a line's end is left, which is a space like any other."""
_MARKS = ("@@orbit:title@@", "@@orbit:toc@@", "@@orbit:content@@")


class ShellError(OrbitError):
    """The theme gave no page that records can be put into."""

    exit_code = 3


@dataclass(frozen=True, slots=True)
class Shell:
    """The empty page of one depth: the parts around title, contents and content, in the theme's order."""

    parts: tuple[str, ...]
    order: tuple[str, ...]
    canonical: str

    def under(self, index: str) -> Shell:
        """Return the shell with the navigation's entry for a page, named as the shell names it, marked as current."""
        plain = f'<a href="{escape(index)}" class="md-nav__link">'
        marked = f'<a href="{escape(index)}" class="md-nav__link md-nav__link--active">'
        return replace(self, parts=tuple(part.replace(plain, marked) for part in self.parts))

    def page(self, url: str, title: str, content: str, toc: str, base_url: str | None) -> str:
        """Return a page; `title` is text, `content` and `toc` are safe HTML."""
        given = {"@@orbit:title@@": escape(title), "@@orbit:toc@@": toc, "@@orbit:content@@": content}
        out = [self.parts[0]]
        for mark, part in zip(self.order, self.parts[1:], strict=True):
            out += [given[mark], part]
        if base_url:
            own = f'<link rel="canonical" href="{escape(base_url.rstrip("/") + "/" + url)}">'
            out[0] = out[0].replace(self.canonical, own)
        return "".join(out)


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
    html = "".join(parted)
    places = sorted((html.find(mark), mark) for mark in _MARKS if mark in html)
    if "@@orbit:content@@" not in {mark for _, mark in places}:
        raise ShellError(
            "the theme's page has no place for records", hint="its main.html must extend ours, or leave it alone"
        )
    parts, end = [], 0
    for start, mark in places:
        parts.append(html[end:start])
        end = start + len(mark)
    parts.append(html[end:])
    canonical = f'<link rel="canonical" href="{escape((base_url or "").rstrip("/") + "/" + url)}">'
    return Shell(tuple(parts), tuple(mark for _, mark in places), canonical)
