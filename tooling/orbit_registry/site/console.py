"""SQL console: the page, its example queries, and DuckDB for the browser.

DuckDB for the browser is 35 MB, so it is no part of the package: `site.console: true` has npm fetch
it. If that fails, the page says how to query without it.
"""

import re
from collections.abc import Iterable
from itertools import chain

from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.model.record import Record
from orbit_registry.site.filling import html_part
from orbit_registry.site.language import word
from orbit_registry.site.npm import Archive
from orbit_registry.site.urls import relative

PAGE = "query/"
SCRIPT = "assets/orbit/console.js"
FOLDER = "assets/orbit/duckdb/"
MISSING = "SITE398"
_ARROW = re.compile(rb'import\*as (\w+) from"apache-arrow";')
"""How DuckDB's module asks for the other package;
a page without a bundler gets that one as a global.
"""


ARCHIVES = (
    Archive(
        "@duckdb/duckdb-wasm",
        "1.32.0",
        "21ec174cd6048ec6423c4f707945a0b631b1525311a3baa15f4185eadabf2a32"
        "bc6e763e44097873251d6147dc7736f26f86fd6713c2f853ac09cc6068a15632",
        {
            "package/dist/duckdb-browser.mjs": "duckdb.mjs",
            "package/dist/duckdb-browser-eh.worker.js": "worker.js",
            "package/dist/duckdb-eh.wasm": "duckdb.wasm",
        },
    ),
    Archive(
        "apache-arrow",
        "17.0.0",
        "5f4a7b6aecdd9c6ba160c54a60835d42cb12e0470a79cf53097c9ecffaad26dd"
        "f60eb20c19bcea89a3224345fa7d0950a70f0597443281cbf875f440af91aef5",
        {
            "package/Arrow.es2015.min.js": "arrow.js",
            "package/LICENSE.txt": "arrow-LICENSE.txt",
            "package/NOTICE.txt": "arrow-NOTICE.txt",
        },
    ),
)
VERSION = "+".join(f"{archive.version}:{archive.sha512[:16]}" for archive in ARCHIVES)
_NAMES = chain.from_iterable(archive.files.values() for archive in ARCHIVES)
FILES = tuple(f"{FOLDER}{name}" for name in _NAMES)
DOWNLOAD = "35 MB"

EXAMPLES: tuple[tuple[str, str], ...] = (
    ("query.of.path", "FROM scope_match('{path}')"),
    ("query.of.words", "FROM search('{words}')"),
    ("query.of.ranked", "FROM ranked()"),
    ("query.of.id", "FROM resolve_id('{id}')"),
    (
        "query.of.counts",
        "SELECT kind, status, count(*) AS records FROM records GROUP BY ALL ORDER BY ALL",
    ),
    (
        "query.of.changed",
        "SELECT id, title, updated_at FROM records ORDER BY updated_at DESC LIMIT 20",
    ),
    (
        "query.of.replaced",
        (
            "SELECT target_id AS was, record_id AS is_now FROM links WHERE rel = 'supersedes' "
            "ORDER "
            "BY ALL"
        ),
    ),
    ("query.of.votes", "FROM vote_ranking"),
)
"""The key of a question, and SQL; the braces get a path, words and an id of the collection."""


def fetched() -> Diagnostic | None:
    """Have npm fetch the archives that are missing; return a diagnostic if that fails."""
    for archive in ARCHIVES:
        if problem := archive.fetched():
            message = f"the SQL console is left out: {problem}"
            return Diagnostic(
                MISSING, Severity.WARNING, message, Location(".orbit/config.yaml"), archive.hint
            )
    return None


def unpacked() -> dict[str, bytes]:
    """Return the console's files by their path in the site, once the archives are fetched."""
    files = {}
    for name, content in chain.from_iterable(archive.unpacked() for archive in ARCHIVES):
        if name.endswith(".mjs"):
            content = _ARROW.sub(rb"const \1=globalThis.Arrow;", content)
        files[f"{FOLDER}{name}"] = content

    return files


def examples_of(records: Iterable[Record]) -> list[tuple[str, str]]:
    """Return what can be asked, and the SQL that asks it of these records."""
    live = [record for record in records if record.phase == "live"]
    any_id = live[0].id if live else "ADR-0001"
    globs = chain.from_iterable(record.globs for record in live)
    path = next(filter(None, map(_path_in, globs)), "src/app.py")
    words = " ".join(re.findall(r"\w+", live[0].title)[:4]) if live else "retry"
    return [(word(key), sql.format(path=path, id=any_id, words=words)) for key, sql in EXAMPLES]


def page_html(records: Iterable[Record], *, works: bool, database: bool) -> str:
    """Return the page's content; `works` says whether DuckDB for the browser is part of the
    site.
    """
    snapshot = relative(PAGE, "snapshot.duckdb")
    console: dict[str, str] = {}
    if works:
        console = {"duckdb": relative(PAGE, FOLDER), "snapshot": snapshot, "size": DOWNLOAD}
        console["script"] = relative(PAGE, SCRIPT)

    download = snapshot if database else ""
    examples = examples_of(records)
    return html_part("console.html", snapshot=download, console=console, examples=examples)


def _path_in(glob: str) -> str:
    plain = glob.removesuffix("**").rstrip("/")
    if not plain or set(plain) & set("!*?[]{}'\\"):
        return ""

    return plain + "/x" * (plain != glob)
