"""The site of a real repository, built as a user builds it:
complete, linked, incremental, and only ours to remove.
"""

import json
import re
import shutil
import socket
import struct
import urllib.error
import urllib.request
from collections import Counter
from html import unescape
from pathlib import Path

import pytest
from tests.acceptance.site_cases import copied
from tests.conftest import Git
from tests.files import configure, write

from orbit_registry.checks import engine
from orbit_registry.exchange.importers.importer import import_from
from orbit_registry.model.kind import load_kinds
from orbit_registry.operations.freshness.verify import Verification
from orbit_registry.operations.init import setup_workspace
from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site
from orbit_registry.site.output import SiteResult
from orbit_registry.site.serve import SiteServer


def build(root: Path, out: Path, base_url: str | None = None, strict: bool = False) -> SiteResult:
    """Build the site of a repository, without the database."""
    return build_site(Registry.open(root), out, base_url=base_url, strict=strict, snapshot=False)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, SiteResult]:
    root = copied("demo", tmp_path_factory.mktemp("demo") / "repo")
    out = root.parent / "site"
    return root, out, build(root, out, "https://example.org/why/")


def text_of(page: Path) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page.read_text("utf-8"))).split())


def test_every_shown_record_has_a_page(demo: tuple[Path, Path, SiteResult]) -> None:
    _, out, _ = demo
    for url in ("adrs/ADR-0001", "adrs/ADR-0005", "learnings/L-7k3fq"):
        assert (out / url / "index.html").is_file()
    assert not (out / "learnings/L-00h1d").exists()
    assert all(b"L-00h1d" not in file.read_bytes() for file in out.rglob("*") if file.is_file())


def test_the_page_of_a_record_is_light(demo: tuple[Path, Path, SiteResult]) -> None:
    _, out, _ = demo
    sizes = {page.parent.name: page.stat().st_size for page in out.glob("*/*-*/index.html")}
    assert "ADR-0001" in sizes
    assert {name: size for name, size in sizes.items() if size > 30_000} == {}


def test_a_built_site_is_not_a_source(git_repo: Path) -> None:
    for number, title in enumerate(("Keep time", "Old tools", "New tools"), 1):
        status = "Superseded by [3. New tools](0003-new-tools.md)" if number == 2 else "Accepted"
        text = (
            f"# {number}. {title}\n\nDate: 2026-01-01\n\n## Status\n\n{status}\n\n## "
            f"Decision\n\nSee ADR-0099.\n"
        )
        write(git_repo, f"docs/adr/{number:04d}-{title.lower().replace(' ', '-')}.md", text)
    setup_workspace(git_repo, load_kinds())
    import_from(git_repo, start=git_repo)
    build(git_repo, git_repo / "site")
    assert "ADR-0099" in (git_repo / "site/adrs/ADR-0001/index.md").read_text("utf-8")
    import_from(git_repo, start=git_repo)
    registry = Registry.open(git_repo)
    assert len(registry.records) == 3
    places = {
        finding.location.path.split("/")[0]
        for finding in engine.run(registry.workspace).diagnostics
    }
    assert places == {"docs"}


def test_a_title_is_plain_text_where_nothing_draws_its_marks(git_repo: Path) -> None:
    write(git_repo, "docs/adr/0001-keep.md", "# 1. Keep\n\n## Status\n\nAccepted\n")
    setup_workspace(git_repo, load_kinds())
    import_from(git_repo, start=git_repo)
    record = git_repo / ".orbit/adrs/ADR-0001/adr.yaml"
    record.write_text(
        record.read_text("utf-8").replace("title: Keep", "title: Keep `time` in **one** *place*"),
        "utf-8",
    )
    build(git_repo, git_repo / "site")
    page = (git_repo / "site/adrs/ADR-0001/index.html").read_text("utf-8")
    head, titles = (
        page[: page.index("</head>")],
        (git_repo / "site/search/titles.json").read_text("utf-8"),
    )
    assert "Keep <code>time</code> in <strong>one</strong> <em>place</em></h1>" in page
    assert head.count("Keep time in one place") >= 3  # title, preview, JSON-LD
    assert "Keep time in one place" in titles
    assert not any(mark in head + titles for mark in ("`time`", "*one*", "*place*"))


def test_what_has_no_content_is_nowhere(demo: tuple[Path, Path, SiteResult]) -> None:
    _, out, _ = demo
    empty = ("failures", "proposals", "resources", "retros", "rules", "query")
    assert [name for name in empty if (out / name).exists()] == []
    links = {
        link
        for page in out.rglob("*.html")
        for link in re.findall(r'href="([^"]*)"', page.read_text("utf-8"))
    }
    assert [link for link in links if set(link.split("/")) & set(empty)] == []


def test_the_start_page_follows_the_readme_without_what_is_withheld(tmp_path: Path) -> None:
    root, site = tmp_path / "repo", tmp_path / "site"
    write(root, "docs/adr/0001-use-files.md", "# Use files\n\n## Decision\n\nWe use files.\n")
    setup_workspace(root, load_kinds())
    Registry.open(root).adr_backfill()
    for about in ("Shop sells tea in tins.", "Shop sells coffee in bags."):
        write(root, "README.md", f"# Shop\n\n{about}\n")
        home = (build(root, site).out / "index.html").read_text("utf-8")
        assert "<h1" in home
        assert about in home
        assert ">Shop<" in home

    configure(root, "site: {publish: {redact: [coffee]}}\n")
    home = (build(root, site).out / "index.html").read_text("utf-8")
    assert "coffee" not in home


def test_where_no_decision_names_a_path_the_page_of_paths_says_so(tmp_path: Path) -> None:
    write(
        tmp_path / "repo",
        "docs/adr/0001-use-files.md",
        "# Use files\n\n## Context\n\nA database is heavy.\n",
    )
    setup_workspace(tmp_path / "repo", load_kinds())
    Registry.open(tmp_path / "repo").adr_backfill()
    out = build(tmp_path / "repo", tmp_path / "site").out
    pages = {page.parent.relative_to(out).as_posix() for page in out.rglob("index.html")}
    folders = {page.partition("/")[0] for page in pages}
    assert folders == {".", "adrs", "health", "legacy", "paths", "search"}
    home = (out / "index.html").read_text("utf-8")
    assert 'data-orbit-unscoped="the only current decision names no files"' in home
    assert "orbit scope suggest" in (out / "paths/index.html").read_text("utf-8")


def test_counts_equal_the_records(demo: tuple[Path, Path, SiteResult]) -> None:
    _, out, _ = demo
    records = json.loads((out / "records.json").read_text("utf-8"))["records"]
    home = (out / "index.html").read_text("utf-8")
    (line,) = re.findall(r'<p class="orbit-line">(.*?)</p>', home)
    totals = re.findall(r'<a href="(\w+)/">([\d,]+) ', line)
    assert {plural: int(count) for plural, count in totals} == Counter(
        record["url"].partition("/")[0] for record in records
    )
    statuses = re.findall(r'href="adrs/\?status=(\w+)">([\d,]+) ', line)
    assert {status: int(count) for status, count in statuses} == Counter(
        record["status"] for record in records if record["kind"] == "adr"
    )


def test_a_date_from_git_is_marked(
    tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "repo"
    write(root, "docs/adr/0001-use-files.md", "# Use files\n\n## Context\n\nA database is heavy.\n")
    write(
        root,
        "docs/adr/0002-use-yaml.md",
        "# Use YAML\n\nDate: 2024-01-02\n\n## Context\n\nJSON has no comments.\n",
    )
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2023-05-06T12:00:00Z")
    git(root, "commit", "--quiet", "--message", "Start")
    monkeypatch.delenv("GIT_COMMITTER_DATE")
    git(root, "mv", "docs/adr/0001-use-files.md", "docs/adr/0001-keep-files.md")
    git(root, "commit", "--quiet", "--message", "Rename")
    setup_workspace(root, load_kinds())
    Registry.open(root).adr_backfill()
    out = build(root, tmp_path / "site").out
    index = (out / "adrs/index.html").read_text("utf-8")
    assert re.findall(r'<td class="orbit-col-date">(.*?)</td>', index) == [
        "2024-01-02",
        "first committed 2023-05-06",
    ]
    assert "<time>first committed 2023-05-06</time>" in (
        out / "adrs/ADR-0001/index.html"
    ).read_text("utf-8")

    git(tmp_path, "clone", "--quiet", "--depth=1", root.as_uri(), "shallow")
    shutil.copytree(root / ".orbit", tmp_path / "shallow/.orbit", dirs_exist_ok=True)
    listed = json.loads(
        (build(tmp_path / "shallow", tmp_path / "other").out / "records.json").read_text("utf-8")
    )
    assert [(record["date"], record["date_source"]) for record in listed["records"]] == [
        ("", ""),
        ("2024-01-02", ""),
    ]


def test_one_of_several_prefixed_names_has_a_page(tmp_path: Path) -> None:
    root, out = copied("demo", tmp_path / "repo"), tmp_path / "site"
    names = {
        "ADR-0002": '["0002", "0002-files"]',
        "ADR-0004": '["0007", 0007-one]',
        "ADR-0005": '["0007", 0007-two]',
    }
    for record_id, earlier in names.items():
        file = root / f".orbit/adrs/{record_id}/adr.yaml"
        text = re.sub(r"^legacy_ids:.*\n", "", file.read_text("utf-8"), flags=re.MULTILINE)
        file.write_text(f"{text}legacy_ids: {earlier}\n", "utf-8")
    build(root, out)
    assert (out / "legacy/0002/index.html").is_file()
    assert not (out / "legacy/0002-files").exists()
    assert all(
        (out / f"legacy/{name}/index.html").is_file() for name in ("0007", "0007-one", "0007-two")
    )


def test_programs_find_every_record(demo: tuple[Path, Path, SiteResult]) -> None:
    _, out, _ = demo
    rows = json.loads((out / "records.json").read_text("utf-8"))["records"]
    assert [row["id"] for row in rows] == [*(f"ADR-000{n}" for n in range(1, 6)), "L-7k3fq"]
    assert {
        "id",
        "kind",
        "title",
        "status",
        "phase",
        "date",
        "url",
        "scope",
        "legacy_ids",
        "tags",
    } <= set(rows[0])
    assert all((out / row["url"] / "index.html").is_file() for row in rows)
    assert (rows[0]["votes"], rows[-1]["votes"]["count"], len(rows[-1]["votes"]["months"])) == (
        None,
        1,
        24,
    )


def test_a_dead_link_is_reported_where_it_is_written(demo: tuple[Path, Path, SiteResult]) -> None:
    _, _, result = demo
    locations = [
        str(problem.location) for problem in result.diagnostics if problem.code == "SITE390"
    ]
    assert locations[0] == "docs/design/core/1_overview.md:3:108"
    assert len(locations) == len(set(locations)) == 6
    assert [problem for problem in result.diagnostics if problem.code != "SITE390"] == []


def test_a_strict_build_fails_on_a_dead_link(demo: tuple[Path, Path, SiteResult]) -> None:
    root, out, result = demo
    assert result.ok
    assert not build(root, out, "https://example.org/why/", strict=True).ok


def test_every_page_has_an_icon(demo: tuple[Path, Path, SiteResult]) -> None:
    pages = list(demo[1].rglob("*.html"))
    assert any("legacy" in page.parts for page in pages)
    assert [page for page in pages if 'rel="icon"' not in page.read_text("utf-8")] == []


def test_no_two_pages_have_the_same_title(demo: tuple[Path, Path, SiteResult]) -> None:
    titles = Counter(
        match[1]
        for page in demo[1].rglob("*.html")
        if "legacy" not in page.parts
        and (match := re.search(r"<title>(.*?)</title>", page.read_text("utf-8")))
    )
    assert len(titles) > 20
    assert [title for title, count in titles.items() if count > 1] == []


def digest(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_an_unreadable_record_is_named_and_hides_no_other(tmp_path: Path) -> None:
    root, out = copied("demo", tmp_path / "repo"), tmp_path / "site"
    (root / ".orbit/adrs/ADR-0005/adr.yaml").write_text("a: [", "utf-8")
    write(root, ".orbit/adrs/executors/shell.yaml", "run: sh")
    result = build(root, out)
    paths = {diagnostic.location.path for diagnostic in result.diagnostics}
    assert paths & {".orbit/adrs/ADR-0005/adr.yaml", ".orbit/adrs/executors"} == {
        ".orbit/adrs/ADR-0005/adr.yaml"
    }
    assert (out / "adrs/ADR-0004/index.html").is_file()
    assert not (out / "adrs/ADR-0005").exists()


def test_a_document_that_is_not_utf8_is_named_in_every_build(tmp_path: Path) -> None:
    root, out = copied("demo", tmp_path / "repo"), tmp_path / "site"
    write(root, "docs/adr/0001-use-git.md", "# Use git\n\nStatus: Accepted\n\nWe use git.\n")
    file = root / ".orbit/adrs/ADR-0005/adr.yaml"
    source = "source: {path: docs/adr/0001-use-git.md, format: madr}\n"
    file.write_text(
        re.sub(r"(?m)^source:.*\n(?:[ ].*\n)*", "", file.read_text("utf-8")) + source, "utf-8"
    )
    assert "We use git." in text_of(build(root, out).out / "adrs/ADR-0005/index.html")
    (root / "docs/adr/0001-use-git.md").write_bytes(b"# Use git\n\nCaf\xe9\n")
    for _ in range(2):
        (root / "README.md").touch()
        problems = [
            problem for problem in build(root, out).diagnostics if problem.code == "SITE392"
        ]
        assert [(str(problem.location), problem.hint) for problem in problems] == [
            ("docs/adr/0001-use-git.md:3:4", "save the file as UTF-8")
        ]
    file.write_text(file.read_text("utf-8").replace(source, ""), "utf-8")
    file.with_name("body.md").write_bytes(b"Caf\xe9\n")
    problems = [problem for problem in build(root, out).diagnostics if problem.code == "SITE392"]
    assert [str(problem.location) for problem in problems] == [".orbit/adrs/ADR-0005/body.md:1:4"]


def test_a_site_has_the_database_if_asked(tmp_path: Path) -> None:
    root, out = copied("demo", tmp_path / "repo"), tmp_path / "site"
    build_site(Registry.open(root), out)
    assert not (out / "snapshot.duckdb").exists()
    assert "snapshot.duckdb" not in (out / "index.html").read_text("utf-8")
    build_site(Registry.open(root), out, snapshot=True)
    assert (out / "snapshot.duckdb").read_bytes()[8:12] == b"DUCK"


def fetch(url: str, host: str | None = None) -> tuple[int, str]:
    request = urllib.request.Request(url, headers={"Host": host} if host else {})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode("utf-8", "replace")
    except urllib.error.HTTPError as error:
        return error.code, ""


def test_a_server_answers_this_machine_alone(demo: tuple[Path, Path, SiteResult]) -> None:
    _, out, _ = demo
    server = SiteServer(out, 0)
    server.start()
    try:
        assert "http://127.0.0.1:" in server.url
        assert "Store sessions in files" in fetch(f"{server.url}adrs/ADR-0002/")[1]
        assert fetch(f"{server.url}adrs/", host="evil.example.org")[0] == 403
        assert fetch(f"{server.url}adrs/", host="[::1")[0] == 403
        assert fetch(f"{server.url}gone/")[0] == 404
        assert fetch(f"{server.url}%00")[0] == 404
    finally:
        server.close()


def test_a_browser_that_leaves_is_no_news(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "large.bin").write_bytes(bytes(64 * 1024 * 1024))
    server = SiteServer(tmp_path, 0)
    server.start()
    try:
        with socket.create_connection(
            ("127.0.0.1", int(server.url.rstrip("/").rpartition(":")[2]))
        ) as connection:
            connection.sendall(b"GET /large.bin HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")
            assert connection.recv(100)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        assert fetch(f"{server.url}large.bin")[0] == 200  # by now the first answer has failed
    finally:
        server.close()
    assert capfd.readouterr().err == ""


def test_a_page_says_that_its_record_may_no_longer_hold(tmp_path: Path) -> None:
    root = copied("demo", tmp_path / "repo")
    page = tmp_path / "site/learnings/L-7k3fq/index.html"
    (root / "<b>.txt").write_text("one\n", "utf-8")
    registry = Registry.open(root)
    registry.verify("L-7k3fq", Verification("Ada", ["<b>.txt"]))
    build(root, tmp_path / "site")
    assert "May no longer hold" not in text_of(page)
    (root / "<b>.txt").write_text("two\n", "utf-8")
    build(root, tmp_path / "site")
    assert "May no longer hold: `<b>.txt` has changed" in text_of(page)
    registry.verify("L-7k3fq", Verification("Ada", expires="2020-01-01"))
    build(root, tmp_path / "site")
    assert "No longer holds: expired on 2020-01-01" in text_of(page)


@pytest.mark.parametrize(
    ("text", "is_shown"),
    [
        ("---\nstatus: Adopted (2024)\n---\n# Use SQLite\n\n## Context\n\nOne file.\n", True),
        ("# Use SQLite\n\n## Status\n\nAdopted (2024)\n\n## Context\n\nOne file.\n", False),
    ],
    ids=["front matter", "text"],
)
def test_a_status_as_written_is_shown_unless_in_text(
    text: str, is_shown: bool, tmp_path: Path
) -> None:
    root = tmp_path / "repo"
    write(root, "docs/adr/0001-use-sqlite.md", text)
    setup_workspace(root, load_kinds())
    import_from(root, "madr", start=root)
    build_site(Registry.open(root), tmp_path / "site", snapshot=False)
    page = (tmp_path / "site/adrs/ADR-0001/index.html").read_text("utf-8")
    assert "Adopted (2024)" in page
    assert ("<dt>Status as written</dt>" in page) == is_shown
