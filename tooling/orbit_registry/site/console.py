"""SQL console: the page, its example queries, and DuckDB for the browser.

DuckDB for the browser is 35 MB, so it is no part of the package: `site.console: true` has npm fetch
it. If that fails, the page says how to query without it.
"""

import re
from collections.abc import Iterable
from html import escape

from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.model.record import Record
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
FILES = tuple(f"{FOLDER}{name}" for archive in ARCHIVES for name in archive.files.values())
DOWNLOAD, COMPRESSED = "35 MB", "about 8 MB if the server compresses"

EXAMPLES: tuple[tuple[str, str], ...] = (
    ("What applies to a path", "FROM scope_match('{path}')"),
    ("What says something about these words", "FROM search('{words}')"),
    ("All live records, in the order that agents get them", "FROM ranked()"),
    ("What an id, of today or earlier, means", "FROM resolve_id('{id}')"),
    (
        "How many of each kind, by status",
        "SELECT kind, status, count(*) AS records FROM records GROUP BY ALL ORDER BY ALL",
    ),
    (
        "What changed last",
        "SELECT id, title, updated_at FROM records ORDER BY updated_at DESC LIMIT 20",
    ),
    (
        "What replaces what",
        (
            "SELECT target_id AS was, record_id AS is_now FROM links WHERE rel = 'supersedes' "
            "ORDER "
            "BY ALL"
        ),
    ),
    ("Learnings that were voted for", "FROM vote_ranking"),
)
"""Question and SQL; the braces get a path, words and an id of the collection."""


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
    return {
        f"{FOLDER}{name}": _ARROW.sub(rb"const \1=globalThis.Arrow;", content)
        if name.endswith(".mjs")
        else content
        for archive in ARCHIVES
        for name, content in archive.unpacked()
    }


def examples_of(records: Iterable[Record]) -> list[tuple[str, str]]:
    """Return what can be asked, and the SQL that asks it of these records."""
    live = [record for record in records if record.phase == "live"]
    any_id = live[0].id if live else "ADR-0001"
    path = next(
        (path for record in live for path in map(_path_in, record.globs) if path), "src/app.py"
    )
    words = " ".join(re.findall(r"\w+", live[0].title)[:4]) if live else "retry"
    return [(what, sql.format(path=path, id=any_id, words=words)) for what, sql in EXAMPLES]


def page_html(records: Iterable[Record], *, works: bool, database: bool) -> str:
    """Return the page's content; `works` says whether DuckDB for the browser is part of the
    site.
    """
    row = "<li><span>{}</span><pre><code data-orbit-sql>{}</code></pre></li>"
    examples = "".join(row.format(escape(what), escape(sql)) for what, sql in examples_of(records))
    name = "<code>snapshot.duckdb</code>"
    download = (
        f'<a href="{relative(PAGE, "snapshot.duckdb")}" download>{name}</a>' if database else name
    )

    return (
        f"<p>Every record, scope, link and vote is in {download}, a DuckDB file that needs no "
        f"Orbit: "
        "<code>duckdb snapshot.duckdb</code> asks it in a shell, <code>orbit query</code> in a "
        "checkout.</p>"
        f'{_console() if works else ""}<h2 id="examples">What can be asked</h2>'
        f'<ul class="orbit-queries">{examples}</ul>'
    )


def _path_in(glob: str) -> str:
    plain = glob.removesuffix("**").rstrip("/")
    return "" if not plain or set(plain) & set("!*?[]{}'\\") else plain + "/x" * (plain != glob)


def _console() -> str:
    places = (
        f'data-orbit-duckdb="{relative(PAGE, FOLDER)}" '
        f'data-orbit-snapshot="{relative(PAGE, "snapshot.duckdb")}"'
    )
    return (
        '<div class="orbit-wake">'
        '<p class="orbit-hint" data-orbit-asleep>The console needs scripts, and a site that a '
        "server serves: "
        "<code>python3 -m http.server</code> in its folder is one.</p>"
        f'<form class="orbit-console" {places} hidden>'
        f'<p><button type="button" class="md-button md-button--primary" data-orbit-start>'
        f"Ask here: load DuckDB, {DOWNLOAD}</button>"
        f" <small>{COMPRESSED}; it runs in this page and sends nothing anywhere.</small></p>"
        '<div data-orbit-asking hidden><label for="orbit-sql">SQL</label>'
        '<textarea id="orbit-sql" rows="4" spellcheck="false" autocapitalize="off" '
        'autocomplete="off"></textarea>'
        '<p><button type="submit" class="md-button md-button--primary">Run</button> '
        "<small>or Ctrl+Enter</small></p></div>"
        '<p class="orbit-said" role="status" aria-live="polite"></p>'
        '<div class="orbit-answer" tabindex="0" role="region" aria-label="Answer" '
        "hidden></div></form></div>"
        f'<script src="{relative(PAGE, SCRIPT)}" type="module"></script>'
    )
