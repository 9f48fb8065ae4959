"""Addresses of pages, and relative links between them."""

import hashlib
import re
from functools import lru_cache
from urllib.parse import quote, urlsplit

from orbit_registry.errors import UsageError
from orbit_registry.formats.links import is_markdown

_PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*\Z")
_UNQUOTED = re.compile(r"[A-Za-z0-9._~/-]*\Z")
_LONGEST_SEGMENT = 100
LEGACY = "legacy"
TASKS = "tasks/"
SEARCH = "search/"
"""The page of a search's results, which `?q=` opens and a script fills."""


def file_of(url: str) -> str:
    """Return the output file of a site URL: `adrs/ADR-0001/` is `adrs/ADR-0001/index.html`."""
    if not url or url.endswith("/"):
        return f"{url}index.html"

    return url


def relative(origin: str, target: str) -> str:
    """Return how the page at `origin` names `target`;
    both are site URLs, `target` may end in a fragment.
    """
    path, mark, fragment = target.partition("#")
    here, there = origin.split("/")[:-1], path.split("/")
    shared = 0
    while shared < min(len(here), len(there) - 1) and here[shared] == there[shared]:
        shared += 1

    steps = [".."] * (len(here) - shared) + there[shared:]

    if mark and path == origin:
        return f"#{fragment}"

    joined = "/".join(steps)
    address = (
        joined if _UNQUOTED.match(joined) else quote(joined, safe="/~", errors="surrogatepass")
    ) or "."
    return f"{address}{mark}{fragment}"


def linked(base_url: str | None, origin: str, target: str) -> str:
    """Return how a file that may be read apart from the site names `target`:
    by its address, if the site has one.
    """
    if base_url:
        return base_url.rstrip("/") + "/" + relative("", target).removeprefix(".")
    link = relative(origin, target)
    if "/" in link or link == ".":
        return link

    return f"./{link}"


def site_address(text: str) -> str:
    """Return the address of a site as links are made of it: in ASCII, with a slash at its end."""
    try:
        parts = urlsplit(text.strip())
        host = (parts.hostname or "").encode("idna").decode() + (
            f":{parts.port}" if parts.port else ""
        )
    except ValueError:
        parts, host = urlsplit(""), ""

    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        hint = "give it as in `https://example.org/decisions/`"
        raise UsageError(f"{text!r} is not an address for a site", hint=hint)

    return (
        f"{parts.scheme}://{host}"
        f"{quote(parts.path.rstrip('/'), safe='/%~@:+,;=', errors='surrogatepass')}/"
    )


@lru_cache(maxsize=1 << 16)
def safe_segment(name: str) -> str:
    """Return a name as one folder: other characters than letters, digits, `.`,
    `_` and `-` become `~` and hex.
    """
    plain = _PLAIN.match(name) and name.lower() != "index.html"
    coded = name if plain else "".join(_coded(character) for character in name)
    if len(coded) > _LONGEST_SEGMENT:
        digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        coded = f"{coded[: _LONGEST_SEGMENT - 17]}~{digest}"

    return coded or "~"


def _coded(character: str) -> str:
    if character.isascii() and (character.isalnum() or character in "_-"):
        return character
    return "".join(f"~{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))


def legacy_url(legacy_id: str) -> str:
    """Return the page that sends readers of an earlier name on: `legacy/project/ADR-006/`."""
    return "/".join([LEGACY, *(safe_segment(part) for part in legacy_id.split("/")), ""])


def record_url(plural: str, record_id: str) -> str:
    """Return the page of a record: `adrs/ADR-0001/`, of an inherited one `adrs/org/ADR-0001/`."""
    return "/".join([plural, *map(safe_segment, record_id.split(":")), ""])


def document_url(path: str, docs: str | None = "docs", directories: bool = True) -> str:
    """Return the page of a repository's Markdown document; a leading documentation folder is
    dropped.

    `directories` says whether a page is a folder, as the generator's `use_directory_urls` does.
    """
    inner = path.removeprefix(f"{docs}/") if docs else path
    stem = inner.rpartition(".")[0] if is_markdown(inner) else inner
    folder, _, name = stem.rpartition("/")
    if name.lower() in ("index", "readme"):
        stem = folder
    elif not directories:
        return f"{stem}.html"

    if stem:
        return f"{stem}/"

    return ""
