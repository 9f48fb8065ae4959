"""A repository with a site of its own: its pages and theme stay, the registry joins,
by command and by plugin.
"""

import contextlib
import json
import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest
from tests.acceptance.site_cases import copied
from tests.files import write

from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site
from orbit_registry.site.config import FILE, read_user_config
from orbit_registry.site.generate import GeneratorError
from orbit_registry.site.output import SiteResult
from orbit_registry.workspace.trusted_commands import allow, files_of

_POLICY = re.compile(rb'<meta http-equiv="Content-Security-Policy"[^>]*>')
CONFIG = "site_name: Our handbook\ntheme: {name: material, font: false}\nplugins: [search, orbit]\n"
CITING = """# Start with ADR-0002

See ADR-0002, `L-7k3fq` and core/ADR-001; [ADR-0003](https://example.org), `as ADR-0005`.

| a |
|---|
| ADR 3 |

```
ADR-0004
```

[ADR-0004]: https://example.org

{{ ADR-0004 }} <b title="ADR-0004">x</b>
"""


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path / "repo")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> SiteResult:
    """Return the result of a build of such a repository, whose site is to be read alone."""
    top = tmp_path_factory.mktemp("own")
    return build(repository(top / "repo"), top / "site")


def repository(root: Path) -> Path:
    copied("demo", root)
    (root / "mkdocs.yml").write_text(CONFIG, "utf-8")
    (root / "docs/index.md").write_text(
        "# Handbook\n\n[Decisions](adrs/index.md), [guide](guide/start.md), [code](../src/a.py), "
        "[why](../.orbit/adrs/ADR-0002/adr.yaml), [design](design/core/1_overview.md), "
        "[gone](../gone.md)\n",
        "utf-8",
    )
    write(root, "docs/guide/start.md", "# Start\n\n!!! note\n    Theirs.\n")
    return root


def build(root: Path, out: Path) -> SiteResult:
    return build_site(Registry.open(root), out, snapshot=False)


@pytest.mark.parametrize("code", ["templates", "a plugin"])
def test_a_build_runs_no_code_that_was_not_allowed(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    ran, home = tmp_path / "ran", tmp_path / "home"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    if code == "templates":
        more = "theme: {name: material, font: false, custom_dir: ours}\n"
        (repo / "ours").mkdir()
        touch = "{{ cycler.__init__.__globals__.os.open('" + str(ran) + "', 64) }}"
        block = f'{{% extends "base.html" %}}{{% block announce %}}{touch}{{% endblock %}}'
        (repo / "ours/main.html").write_text(block, "utf-8")
    else:
        more = CONFIG.partition("\n")[2].replace(
            "search", "search, {projects: {projects_dir: ../../../../../others}}"
        )
        write(repo, "others/one/docs/index.md", "# One\n")
        (repo / "others/one/mkdocs.yml").write_text("site_name: One\nhooks: [hook.py]\n", "utf-8")
        (repo / "others/one/hook.py").write_text(f"open({str(ran)!r}, 'w')\n", "utf-8")
    more += "markdown_extensions: [pymdownx.snippets]\n"
    (repo / "mkdocs.yml").write_text(f"site_name: Our handbook\n{more}", "utf-8")
    (tmp_path / "mine").write_text("My own words.\n", "utf-8")
    (repo / "link").symlink_to(tmp_path / "mine")
    monkeypatch.chdir(repo)
    (repo / "docs/index.md").write_text('# Handbook\n\n--8<-- "link"\n', "utf-8")
    first = build(repo, tmp_path / "site")
    assert [
        problem.message
        for problem in first.diagnostics
        if "are left out: you have not allowed what mkdocs.yml names" in problem.message
    ] != []
    assert (ran.exists(), "My own words" in (tmp_path / "site/index.html").read_text("utf-8")) == (
        False,
        False,
    )
    workspace = Registry.open(repo).workspace
    config = read_user_config(repo)
    assert config is not None
    allow(
        workspace, {FILE: config.code_settings}, {FILE: files_of(workspace, config.code_settings)}
    )
    with contextlib.suppress(
        GeneratorError
    ):  # once its hooks ran, that plugin fails over a configuration in a cache
        build(repo, tmp_path / "site")
    assert ran.exists()


def mkdocs(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", *arguments],
        cwd=root,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_folders_that_their_site_watches_do_not_stop_a_build(repo: Path, tmp_path: Path) -> None:
    (repo / "mkdocs.yml").write_text(f"{CONFIG}watch: [src, ../repo/docs/index.md]\n", "utf-8")

    build(repo, tmp_path / "site")

    assert (tmp_path / "site/index.html").is_file()


def test_their_pages_stay_and_the_registry_joins(built: SiteResult) -> None:
    assert built.config == "mkdocs.yml"
    home = (built.out / "index.html").read_text("utf-8")
    assert "Our handbook" in home
    assert 'href="adrs/"' in home
    assert 'href="documents/"' in home
    assert (built.out / "guide/start/index.html").is_file()
    assert "Our handbook" in (built.out / "adrs/ADR-0002/index.html").read_text("utf-8")


def test_their_links_are_resolved_like_ours(built: SiteResult) -> None:
    home = (built.out / "index.html").read_text("utf-8")
    for href in (
        "adrs/ADR-0002/",
        "design/core/1_overview/",
        "guide/start/",
        "https://github.com/acme/demo/blob/main/src/a.py",
    ):
        assert f'href="{href}"' in home
    (dead,) = [problem for problem in built.diagnostics if problem.location.path == "docs/index.md"]
    assert str(dead.location).startswith("docs/index.md:3:")
    assert "../gone.md" in dead.message


def test_the_markdown_of_a_page_leads_where_the_page_leads(built: SiteResult) -> None:
    twin = (built.out / "index.md").read_text("utf-8")
    for link in (
        "[Decisions](adrs/index.md)",
        "[guide](guide/start/index.md)",
        "[why](adrs/ADR-0002/index.md)",
        "[design](design/core/1_overview/index.md)",
    ):
        assert link in twin


def test_plain_mkdocs_gives_the_same_site(repo: Path, tmp_path: Path) -> None:
    build_site(Registry.open(repo), tmp_path / "ours")
    done = mkdocs(repo, "--site-dir", str(tmp_path / "theirs"))
    assert done.returncode == 0, done.stderr
    ours = {
        p.relative_to(tmp_path / "ours"): p.read_bytes()
        for p in (tmp_path / "ours").rglob("*.html")
    }
    theirs = {
        p.relative_to(tmp_path / "theirs"): p.read_bytes()
        for p in (tmp_path / "theirs").rglob("*.html")
    }
    differ = {path.as_posix() for path, html in ours.items() if theirs[path] != html}
    assert ours.keys() == theirs.keys()
    assert differ == {"index.html", "guide/start/index.html"}
    assert all(_POLICY.sub(b"", ours[Path(path)]) == theirs[Path(path)] for path in differ)
    assert "docs/index.md:3:" in done.stderr


def test_plain_mkdocs_is_strict_when_asked(repo: Path, tmp_path: Path) -> None:
    assert mkdocs(repo, "--strict", "--site-dir", str(tmp_path / "site")).returncode != 0


def test_the_search_box_has_sections_of_curated_pages_alone(built: SiteResult) -> None:
    urls = {
        url
        for url, _ in json.loads((built.out / "search/words.json").read_text("utf-8"))["pages"][
            "pages"
        ]
    }
    assert "design/core/1_overview/" in urls
    assert "guide/start/" in urls
    assert not [url for url in urls if "shell" in url or "ADR-" in url or url == "health/"]


def test_no_page_asks_another_host_for_the_fonts_of_the_theme(repo: Path) -> None:
    (repo / "mkdocs.yml").write_text("site_name: x\ntheme: {name: material}\n", "utf-8")
    result = build(repo, repo / "site")
    assert "SITE396" not in {problem.code for problem in result.diagnostics}
    assert "fonts." not in (repo / "site/index.html").read_text("utf-8")


def test_a_broken_configuration_is_one_error(repo: Path) -> None:
    (repo / "mkdocs.yml").write_text("site_name: x\ntheme: no-such-theme\n", "utf-8")
    with pytest.raises(Exception, match="mkdocs failed") as caught:
        build(repo, repo / "site")
    assert type(caught.value).__name__ == "GeneratorError"
    assert not list((repo / "site").rglob("*.html"))


def test_ids_in_their_sentences_lead_to_records(repo: Path, tmp_path: Path) -> None:
    (repo / "docs/guide/start.md").write_text(CITING, "utf-8")
    title = repo / ".orbit/adrs/ADR-0002/adr.yaml"
    title.write_text(
        title.read_text("utf-8").replace("Store sessions", "Store `a|b` *[<b>"), "utf-8"
    )
    build(repo, tmp_path / "site")
    html = (tmp_path / "site/guide/start/index.html").read_text("utf-8")
    links = re.findall(r'<a class="orbit-cite" href="([^"]+)" title="([^"]+)"', html)
    assert [href for href, _ in links] == [
        "../../adrs/ADR-0002/",
        "../../learnings/L-7k3fq/",
        "../../adrs/ADR-0001/",
        "../../adrs/ADR-0003/",
    ]
    assert unescape(links[0][1]) == "Store a|b *[<b> in files (accepted)"
    assert html.count('class="orbit-card"') == len(links)
    assert "<code>L-7k3fq</code></a>" in html


def test_a_changed_setting_is_on_every_page(repo: Path, tmp_path: Path) -> None:
    build(repo, tmp_path / "kept")
    (repo / "mkdocs.yml").write_text(CONFIG.replace("Our handbook", "Their handbook"), "utf-8")
    assert build(repo, tmp_path / "kept").written > 0
    assert "Their handbook" in (tmp_path / "kept/adrs/ADR-0002/index.html").read_text("utf-8")


def test_their_address_and_their_list_for_agents_stay(repo: Path, tmp_path: Path) -> None:
    (repo / FILE).write_text(f"{CONFIG}site_url: https://example.org/why/\n", "utf-8")
    write(repo, "docs/llms.txt", "Theirs\n")
    build_site(Registry.open(repo), tmp_path / "site", snapshot=False)
    page = (tmp_path / "site/adrs/ADR-0001/index.html").read_text("utf-8")
    assert '<link rel="canonical" href="https://example.org/why/adrs/ADR-0001/">' in page
    assert (tmp_path / "site/llms.txt").read_text("utf-8") == "Theirs\n"
    assert (tmp_path / "site/sitemap.xml").is_file()
