"""Listings of forges: the repositories of an account of GitHub, GitLab or Gitea by their API.

The token is the forge's own variable; it goes to the forge's address alone.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urljoin, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from orbit_fleet.names import public
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
    address_key: str  # of an entry: what `git clone` takes
    name_key: str
    fork_key: str

    def fields(self, entry: Mapping[str, Any]) -> Fields:
        """Return the fields of a source. Its branch is the default one, which may change."""
        return {
            "address": entry[self.address_key],
            "name": entry[self.name_key],
            "forge_id": str(entry["id"]),
            "is_fork": bool(entry.get(self.fork_key)),
            "is_archived": bool(entry.get("archived")),
        }


_FORM_OF_GITHUB = ("clone_url", "full_name", "fork")
FORGES: Mapping[str, Forge] = {
    "github": Forge(
        "https://api.github.com",
        ("/orgs/{}/repos?per_page=100", "/users/{}/repos?per_page=100"),
        "GITHUB_TOKEN",
        "Authorization: Bearer {}",
        *_FORM_OF_GITHUB,
    ),
    "gitlab": Forge(
        "https://gitlab.com/api/v4",
        (
            "/groups/{}/projects?include_subgroups=true&per_page=100",
            "/users/{}/projects?per_page=100",
        ),
        "GITLAB_TOKEN",
        "PRIVATE-TOKEN: {}",
        "http_url_to_repo",
        "path_with_namespace",
        "forked_from_project",
    ),
    "gitea": Forge(
        "",
        ("/orgs/{}/repos?limit=50", "/users/{}/repos?limit=50"),
        "GITEA_TOKEN",
        "Authorization: token {}",
        *_FORM_OF_GITHUB,
    ),
}


def apis_of(arguments: Sequence[str], values: Sequence[str]) -> dict[str, str]:
    """Return the addresses of APIs by forge: each value is one, or `FORGE=ADDRESS`.

    Raises:
        UsageError: an address names no forge, and the arguments name several or none.
    """
    forges = sorted({argument.partition(":")[0] for argument in arguments} & FORGES.keys())
    result: dict[str, str] = {}
    for value in values:
        name, _, address = value.partition("=")
        if name in FORGES:
            result[name] = address
        elif len(forges) == 1:
            result[forges[0]] = value
        else:
            names = " and ".join(forges) or "no forge"
            hint = "name the forge: --api gitlab=https://git.example.org/api/v4"
            raise UsageError(f"the sources name {names}, and --api has one address", hint=hint)

    return result


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
    if host_of(base) is None:
        hint = f"name it: --api https://forge.example/api/v1 {name}:{account}"
        raise UsageError(f"{name} needs the address of its API", hint=hint)

    for path in forge.paths:
        answer = _get(forge, base + path.format(quote(account, safe="")))
        if answer is not None:
            yield from _pages(forge, base, answer)
            return

    raise UsageError(
        f"{public(base)} has no account {account!r}",
        hint=f"see that the name is right, and that {forge.variable} may read it",
    )


def host_of(address: str) -> str | None:
    """Return the host and port of an address on the web; None for another address."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return None

    is_on_web = parts.scheme in ("http", "https") and parts.hostname
    if is_on_web:
        return parts.netloc.rpartition("@")[2].lower()

    return None


def _pages(forge: Forge, base: str, answer: tuple[Any, str]) -> Iterator[Fields]:
    address, hint = public(base), "is --api the address of the API?"
    for _ in range(MOST_PAGES):
        entries, following = answer
        if not isinstance(entries, list):
            raise LakeError(f"{address} answers with no list", hint=hint)

        for entry in entries:
            try:
                yield forge.fields(entry)
            except (KeyError, TypeError, AttributeError):
                message = f"{address} lists a repository in another form"
                raise LakeError(message, hint=hint) from None

        if not following:
            return

        if host_of(following) != host_of(base):
            raise LakeError(f"{address} leads to another host", hint="see what answers there")

        next_answer = _get(forge, following)
        if next_answer is None:
            raise LakeError(f"{address} lacks a page of its list", hint="try again")

        answer = next_answer

    raise LakeError(f"{address} lists more than {MOST_PAGES} pages", hint="see what answers there")


def _get(forge: Forge, url: str) -> tuple[Any, str] | None:
    """Return a page and the address of the next; None where there is no such page."""
    address = public(url)
    request = Request(url, headers={"Accept": "application/json", "User-Agent": "orbit"})
    token = token_of(forge)
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

        message = f"{address} answers {error.code} {error.reason}"
        raise LakeError(message, hint=_advice(forge, error)) from None
    except (URLError, HTTPException, OSError) as error:
        reason = getattr(error, "reason", error)
        raise LakeError(f"{address} can't be reached: {reason}", hint="is --api right?") from None

    if len(content) > LARGEST:
        raise LakeError(f"{address} answers more than {LARGEST >> 20} MB", hint="is --api right?")

    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        hint = "is --api the address of the API?"
        raise LakeError(f"{address} answers no JSON", hint=hint) from None

    match = _NEXT.search(link)
    return data, urljoin(url, match[1]) if match else ""


def token_of(forge: Forge) -> str:
    """Return the token of a forge; "" without one.

    Raises:
        UsageError: it has a character that no header can have.
    """
    token = os.environ.get(forge.variable, "").strip()
    if not token.isascii() or not token.isprintable():
        hint = "set the token alone, on one line"
        raise UsageError(f"{forge.variable} has a character that no token has", hint=hint)

    return token


def _advice(forge: Forge, error: HTTPError) -> str:
    """Return what to do about a refusal."""
    location = error.headers.get("Location")
    if location:
        return f"the account may have another name: it leads to {public(location)}"

    if error.code == 429 or error.headers.get("X-RateLimit-Remaining") == "0":
        return f"the forge answers nothing for now: wait, or set {forge.variable}"

    if error.code >= 500:
        return "the forge fails: try again later"

    return f"{forge.variable} must hold a token that may list repositories"
