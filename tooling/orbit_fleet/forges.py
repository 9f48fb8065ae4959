"""Listings of forges: the repositories of an account of GitHub, GitLab or Gitea by their API.

The token is the forge's own variable; it goes to the forge's address alone.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urljoin, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from orbit_registry.errors import LakeError, UsageError

SECONDS = 30.0
LARGEST = 32 << 20
"""Bytes of one page of a listing."""
MOST_PAGES = 1000
_NEXT = re.compile(r'<([^>]+)>\s*;[^,]*rel="?next"?')

Fields = dict[str, object]


@dataclass(frozen=True, slots=True)
class Forge:
    """How a forge lists repositories."""

    api: str  # its address; "" where each installation has its own
    paths: tuple[str, ...]  # of a listing; the next is tried where one is not there
    variable: str  # of the environment, which has the token
    header: str  # that carries the token
    fields: Callable[[Mapping[str, Any]], Fields]


def _github(entry: Mapping[str, Any]) -> Fields:
    return {
        "address": entry["clone_url"],
        "name": entry["full_name"],
        "branch": entry.get("default_branch") or "",
        "forge_id": str(entry["id"]),
        "is_fork": bool(entry.get("fork")),
        "is_archived": bool(entry.get("archived")),
    }


def _gitlab(entry: Mapping[str, Any]) -> Fields:
    return {
        "address": entry["http_url_to_repo"],
        "name": entry["path_with_namespace"],
        "branch": entry.get("default_branch") or "",
        "forge_id": str(entry["id"]),
        "is_fork": bool(entry.get("forked_from_project")),
        "is_archived": bool(entry.get("archived")),
    }


FORGES: Mapping[str, Forge] = {
    "github": Forge(
        "https://api.github.com",
        ("/orgs/{}/repos?per_page=100", "/users/{}/repos?per_page=100"),
        "GITHUB_TOKEN",
        "Authorization: Bearer {}",
        _github,
    ),
    "gitlab": Forge(
        "https://gitlab.com/api/v4",
        (
            "/groups/{}/projects?include_subgroups=true&per_page=100",
            "/users/{}/projects?per_page=100",
        ),
        "GITLAB_TOKEN",
        "PRIVATE-TOKEN: {}",
        _gitlab,
    ),
    "gitea": Forge(
        "",
        ("/orgs/{}/repos?limit=50", "/users/{}/repos?limit=50"),
        "GITEA_TOKEN",
        "Authorization: token {}",
        _github,
    ),
}


class _NoRedirect(HTTPRedirectHandler):
    """Follow no redirect: it would carry the token to another host."""

    def redirect_request(self, *arguments: Any) -> None:
        return None


def listing(name: str, account: str, api: str = "") -> Iterator[Fields]:
    """Yield the fields of each repository of an account.

    Raises:
        UsageError: the forge needs an address, or has no such account.
        LakeError: the forge does not answer as expected.
    """
    forge = FORGES[name]
    base = (api or forge.api).rstrip("/")
    if urlsplit(base).scheme not in ("http", "https"):
        hint = f"name it: --api https://forge.example/api/v1 {name}:{account}"
        raise UsageError(f"{name} needs the address of its API", hint=hint)

    for path in forge.paths:
        answer = _get(forge, base + path.format(quote(account, safe="")))
        if answer is not None:
            yield from _pages(forge, base, answer)
            return

    raise UsageError(
        f"{base} has no account {account!r}",
        hint=f"see that the name is right, and that {forge.variable} may read it",
    )


def _pages(forge: Forge, base: str, answer: tuple[Any, str]) -> Iterator[Fields]:
    for _ in range(MOST_PAGES):
        entries, following = answer
        if not isinstance(entries, list):
            raise LakeError(f"{base} answers with no list", hint="is --api the address of the API?")

        for entry in entries:
            try:
                yield forge.fields(entry)
            except (KeyError, TypeError, AttributeError):
                message = f"{base} lists a repository in another form"
                raise LakeError(message, hint="is --api the address of the API?") from None

        if not following:
            return

        if urlsplit(following).netloc != urlsplit(base).netloc:
            raise LakeError(f"{base} leads to another host", hint="see what answers there")

        next_answer = _get(forge, following)
        if next_answer is None:
            return

        answer = next_answer


def _get(forge: Forge, url: str) -> tuple[Any, str] | None:
    """Return a page and the address of the next; None where there is no such page."""
    request = Request(url, headers={"Accept": "application/json", "User-Agent": "orbit"})
    token = os.environ.get(forge.variable, "").strip()
    if token:
        header, _, value = forge.header.format(token).partition(": ")
        request.add_unredirected_header(header, value)

    try:
        with build_opener(_NoRedirect).open(request, timeout=SECONDS) as response:
            content = response.read(LARGEST + 1)
            link = response.headers.get("Link") or ""
    except HTTPError as error:
        if error.code == 404:
            return None

        hint = f"{forge.variable} must hold a token that may list repositories"
        raise LakeError(f"{url} answers {error.code} {error.reason}", hint=hint) from None
    except (URLError, HTTPException, OSError) as error:
        reason = getattr(error, "reason", error)
        raise LakeError(f"{url} can't be reached: {reason}", hint="is --api right?") from None

    if len(content) > LARGEST:
        raise LakeError(f"{url} answers more than {LARGEST >> 20} MB", hint="is --api right?")

    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        raise LakeError(f"{url} answers no JSON", hint="is --api the address of the API?") from None

    match = _NEXT.search(link)
    return data, urljoin(url, match[1]) if match else ""
