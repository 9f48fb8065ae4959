"""The MkDocs plugin in a site that people have already:
its pages keep their addresses, and decisions join theirs.
"""

import contextlib
import io
import json
import logging
import os
import re
import shutil
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort
from tests.acceptance.test_site_corpora import dead, read
from tests.conftest import Git

from orbit_registry.registry import Registry
from orbit_registry.site.build import CACHE, LOCK
from orbit_registry.workspace.lock import locked

CONFIG = """\
site_name: Our handbook
repo_url: https://github.com/acme/handbook
edit_uri: edit/main/docs/
theme:
  name: material
  custom_dir: overrides
  palette: {scheme: slate, primary: teal}
  features: [navigation.tabs, content.action.edit]
markdown_extensions: [admonition]
nav:
- index.md
- Guide: guide/start.md
- All of them: decisions/README.md
plugins:
- search
- tags
- orbit
"""
DECISIONS = {
    "0001-use-files.md": "---\ntags: [storage]\n---\n# Use files\n\n## Status\n\n"
    "Superseded by [2](0002-use-a-database.md)\n\n## Context\n\n!!! note\n    Theirs, rendered "
    "by theirs: xylophone.\n",
    "0002-use-a-database.md": "# Use a database\n\n## Status\n\nAccepted\n\n"
    "Supersedes [1](0001-use-files.md)\n\n## Context\n\nx\n",
    "README.md": "# All of them\n\n[First](0001-use-files.md)\n",
}
ENVIRONMENT = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}


@pytest.fixture
def handbook(tmp_path: Path) -> Path:
    """Return a repository with a site of its own:
    navigation, theme, templates, other plugins, adopted decisions.
    """
    root = tmp_path / "handbook"
    for folder in ("docs/decisions", "docs/guide", "overrides", ".orbit"):
        (root / folder).mkdir(parents=True)
    (root / ".orbit/config.yaml").write_text(
        "format: orbit-registry\nschema_version: 1\nadr: {folder: docs/decisions}\n", "utf-8"
    )
    (root / "mkdocs.yml").write_text(CONFIG, "utf-8")
    (root / "docs/index.md").write_text(
        "# Handbook\n\n[First](decisions/0001-use-files.md)\n", "utf-8"
    )
    (root / "docs/guide/start.md").write_text(
        "---\ntags: [start]\n---\n# Start\n\nHello.\n", "utf-8"
    )
    (root / "overrides/main.html").write_text(
        '{% extends "base.html" %}{% block announce %}Our own announcement{% endblock %}'
        "{% block scripts %}{{ super() }}<script>afterTheTheme()</script>{% endblock %}",
        "utf-8",
    )
    for name, text in DECISIONS.items():
        (root / "docs/decisions" / name).write_text(text, "utf-8")
    Registry.open(root).adr_backfill()
    return root


def mkdocs(root: Path, site: Path, *, strict: bool = False) -> str:
    """Build a site as `mkdocs build` does, and return what it logs."""
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    logger = logging.getLogger("mkdocs")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        with contextlib.chdir(root), (root / "mkdocs.yml").open("rb") as file:
            config = load_config(file, site_dir=str(site), strict=strict)
            config.plugins.on_startup(command="build", dirty=False)
            build(config)
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    return log.getvalue()


@pytest.mark.parametrize("directories", [True, False])
def test_a_decision_keeps_its_page_and_gains_its_record(
    handbook: Path, tmp_path: Path, directories: bool
) -> None:
    (handbook / "mkdocs.yml").write_text(
        f"{CONFIG}use_directory_urls: {str(directories).lower()}\n", "utf-8"
    )
    mkdocs(handbook, tmp_path / "site", strict=True)
    url = "decisions/0001-use-files/" if directories else "decisions/0001-use-files.html"
    page = tmp_path / "site" / (f"{url}index.html" if directories else url)
    html = page.read_text("utf-8")
    assert "Our own announcement" in html
    # A script that follows the theme's finds them done: none of them is deferred.
    assert re.search(
        r'<script src="[^"]*/bundle[^>]*></script>.*>afterTheTheme\(\)<', html, re.DOTALL
    )
    assert 'type="application/atom+xml"' in html  # of our main template, which theirs does not end
    assert "@@orbit:" not in html
    assert '<div class="admonition note">' in html
    assert re.search(r"orbit-banner(?:(?!</div>).)*0002-use-a-database", html, re.DOTALL)
    assert len(re.findall(r"<h1\b", html)) == 1
    assert (
        'href="https://github.com/acme/handbook/edit/main/docs/decisions/0001-use-files.md"' in html
    )

    records = json.loads((tmp_path / "site/records.json").read_text("utf-8"))["records"]
    assert [record["url"] for record in records if record["id"] == "ADR-0001"] == [url]
    onward = (tmp_path / "site/adrs/ADR-0001/index.html").read_text("utf-8")
    assert "noindex" in onward
    assert 'http-equiv="refresh"' in onward
    assert dead(tmp_path / "site", read(tmp_path / "site")) == []


LINES = "site_name: Theirs\nplugins:\n- search\n- orbit\n"


@pytest.mark.parametrize("theme", ["", "theme: readthedocs\n"])
def test_three_lines_are_enough(handbook: Path, tmp_path: Path, theme: str) -> None:
    (handbook / "mkdocs.yml").write_text(theme + LINES, "utf-8")
    mkdocs(handbook, tmp_path / "site", strict=True)
    html = (tmp_path / "site/decisions/0001-use-files/index.html").read_text("utf-8")
    assert html.count('class="orbit-record"') == 1
    assert re.search(r"orbit-banner(?:(?!</div>).)*0002-use-a-database", html, re.DOTALL)
    assert 'data-orbit-slot="record' not in html
    assert dead(tmp_path / "site", read(tmp_path / "site")) == []


HOOK = """
from pathlib import Path
from mkdocs.structure.files import File

def on_files(files, config):
    files.append(File.generated(config, "reference/api.md", content="# The API\\n"))
    return files

def on_page_markdown(markdown, page, config, files):
    with open("sources.txt", "a") as file:
        print(page.file.src_uri, page.file.generated_by, page.file.abs_src_path, file=file)
"""


def test_other_plugins_add_pages_and_read_the_history_of_files(
    handbook: Path, tmp_path: Path
) -> None:
    config = CONFIG.replace("- Guide:", "- API: reference/api.md\n- Guide:")
    (handbook / "mkdocs.yml").write_text(f"{config}hooks: [hook.py]\n", "utf-8")
    (handbook / "hook.py").write_text(HOOK, "utf-8")
    (handbook / "docs/guide/start.md").write_text(
        "# Start\n\n[API](../reference/api.md), 0002-use-a-database\n", "utf-8"
    )

    mkdocs(handbook, tmp_path / "site", strict=True)

    html = (tmp_path / "site/guide/start/index.html").read_text("utf-8")
    assert '<a href="../../reference/api/">API</a>' in html
    assert '<a href="../../reference/api/" class="md-nav__link">' in html
    sources = dict(
        line.split(" ", 1) for line in (handbook / "sources.txt").read_text("utf-8").splitlines()
    )
    assert sources["guide/start.md"] == f"None {handbook / 'docs/guide/start.md'}"
    assert (
        sources["decisions/0001-use-files.md"]
        == f"None {handbook / 'docs/decisions/0001-use-files.md'}"
    )
    assert sources["adrs/index.md"].startswith("orbit ")


def test_an_excluded_page_is_no_records_page(handbook: Path, tmp_path: Path) -> None:
    settings = (
        "exclude_docs: |\n  0001*\ndraft_docs: /guide/\ntheme: {name: material, font: false}\n"
    )
    (handbook / "mkdocs.yml").write_text(settings + LINES, "utf-8")
    mkdocs(handbook, tmp_path / "site", strict=True)
    assert not (tmp_path / "site/decisions/0001-use-files").exists()
    assert not (tmp_path / "site/guide").exists()
    assert "Use files" in (tmp_path / "site/adrs/ADR-0001/index.html").read_text("utf-8")
    assert 'href="../../adrs/ADR-0001/"' in (
        tmp_path / "site/decisions/0002-use-a-database/index.html"
    ).read_text("utf-8")
    assert dead(tmp_path / "site", read(tmp_path / "site")) == []


def test_our_pages_are_not_missing_from_the_navigation(handbook: Path, tmp_path: Path) -> None:
    wish = "validation: {nav: {omitted_files: warn}}\n"
    (handbook / "mkdocs.yml").write_text(CONFIG + wish + "not_in_nav: /decisions/\n", "utf-8")
    mkdocs(handbook, tmp_path / "site", strict=True)
    (handbook / "mkdocs.yml").write_text(CONFIG + wish, "utf-8")
    output = mkdocs(handbook, tmp_path / "site")
    pages = re.findall(r"  - (\S+\.md)", output)
    assert pages == ["decisions/0001-use-files.md", "decisions/0002-use-a-database.md"]


def test_what_is_deployed_is_what_was_built(handbook: Path, tmp_path: Path, git: Git) -> None:
    git(tmp_path, "init", "-q", "--bare", "remote")
    for words in (
        ["init", "-q"],
        ["add", "."],
        ["commit", "-qm", "All"],
        ["remote", "add", "origin", "../remote"],
    ):
        git(handbook, *words)
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "gh-deploy", "--no-history", "--quiet"],
        cwd=handbook,
        check=True,
        env=ENVIRONMENT,
        stderr=subprocess.DEVNULL,
    )
    files = git(tmp_path / "remote", "ls-tree", "-r", "--name-only", "gh-pages").splitlines()
    assert {
        "index.html",
        "decisions/0001-use-files/index.html",
        "adrs/index.html",
        "records.json",
    } <= {*files}


def test_who_only_asks_where_the_site_will_be_is_told(
    handbook: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(handbook)
    with Path("mkdocs.yml").open("rb") as file:
        config = load_config(file)
    config.plugins.on_startup(command="mike", dirty=False)
    config = config.plugins.on_config(config)
    assert Path(config.site_dir) == handbook / "site"
    assert not [*(handbook / ".orbit/state").rglob("plugin")]


def test_the_served_site_follows_records_and_pages(handbook: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    top = f"http://127.0.0.1:{port}/"
    words = [sys.executable, "-u", "-m", "mkdocs", "serve", "--dev-addr", f"127.0.0.1:{port}"]
    with subprocess.Popen(
        words,
        cwd=handbook,
        env={**ENVIRONMENT, "PYTHONUNBUFFERED": "1"},
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            lines = iter(server.stderr or ())
            until(lines, "Serving on")
            ((epoch, request),) = re.findall(
                r"livereload\((\d+), (\d+)\)", get(f"{top}decisions/0002-use-a-database/")
            )

            record = handbook / ".orbit/adrs/ADR-0002/adr.yaml"
            record.write_text(record.read_text("utf-8") + "labels: [seen-at-once]\n", "utf-8")
            epoch = later(f"{top}livereload", epoch, request)
            assert "seen-at-once" in get(f"{top}decisions/0002-use-a-database/")

            document = handbook / "docs/guide/start.md"
            document.write_text(document.read_text("utf-8") + "\nWritten just now.\n", "utf-8")
            later(f"{top}livereload", epoch, request)
            assert "Written just now." in get(f"{top}guide/start/")
        finally:
            server.terminate()


def test_a_build_waits_for_the_one_that_runs(
    handbook: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("orbit_registry.site.plugin.BUILD_WAIT_SECONDS", 0)
    lock = Registry.open(handbook).workspace.cache_folder / CACHE / LOCK
    config = load_config(str(handbook / "mkdocs.yml"))
    config.plugins.on_startup(
        command="build", dirty=False
    )  # MkDocs keeps the plugin of an earlier test
    with locked(lock), pytest.raises(Abort):
        build(config)
    assert "waited 0 s" in caplog.text


def test_a_collection_in_the_docs_folder_stays_where_it_is(corpora: Path, tmp_path: Path) -> None:
    root = tmp_path / "repo"
    shutil.copytree(corpora / "adr/JabRef__jabref/docs/decisions", root / "docs/decisions")
    (root / ".orbit").mkdir()
    (root / ".orbit/config.yaml").write_text(
        "format: orbit-registry\nschema_version: 1\nadr: {folder: docs/decisions}\n", "utf-8"
    )
    config = "site_name: Theirs\ntheme: {name: material, font: false}\nplugins:\n- search\n"
    (root / "mkdocs.yml").write_text(config, "utf-8")
    mkdocs(root, tmp_path / "before")
    (root / "mkdocs.yml").write_text(f"{config}- orbit\n", "utf-8")
    Registry.open(root).adr_backfill()
    mkdocs(root, tmp_path / "after")

    before = {
        path.relative_to(tmp_path / "before") for path in (tmp_path / "before").rglob("index.html")
    }
    after = {
        path.relative_to(tmp_path / "after") for path in (tmp_path / "after").rglob("index.html")
    }
    assert before <= after
    records = json.loads((tmp_path / "after/records.json").read_text("utf-8"))["records"]
    titles = json.loads((tmp_path / "after/search/titles.json").read_text("utf-8"))["records"]
    data = json.loads((tmp_path / "after/search/words.json").read_text("utf-8"))["pages"]
    places = [*(url for url, _ in data["pages"]), *(row[4] for row in titles if len(row) > 4)]
    unnamed = [record for record in records if record["url"].startswith("adrs/")]
    assert len(unnamed) == len(
        list((root / "docs/decisions").glob("*#*"))
    )  # an address can't say `#`
    assert len(records) > 10
    for record in (record for record in records if record not in unnamed):
        assert Path(record["url"], "index.html") in before
        assert places.count(record["url"]) == 1
        html = (tmp_path / "after" / record["url"] / "index.html").read_text("utf-8")
        assert html.count('class="orbit-record"') == 1
        assert f"<b>{record['id']}</b>" in html


def until(lines: Iterator[str], word: str) -> None:
    assert any(word in line for line in lines)


def later(address: str, epoch: str, request: str) -> str:
    """Wait as a browser does until there is a later build than the one of an epoch;
    return the epoch of that.
    """
    now = get(f"{address}/{epoch}/{request}")
    assert int(now) > int(epoch)
    return now


def get(address: str) -> str:
    with urllib.request.urlopen(address, timeout=60) as answer:
        return str(answer.read().decode())
