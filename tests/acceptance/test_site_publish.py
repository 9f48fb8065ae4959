"""The publish filter: of a record that is withheld not one byte leaves,
in whatever form site and export have.
"""

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest
from tests.acceptance.site_cases import copied
from tests.conftest import Git
from tests.files import write

from orbit_registry.doors.cli.main import main
from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site
from orbit_registry.site.output import SiteResult

FILTER = """\
  publish:
    statuses: ["!rejected"]
    tags: ["!Internal"]
    redact: ['(?i)project\\s+falcon', 'customers/[a-z]+']
"""
SENTINELS = (
    # the rejected decision of the log
    *(
        "ADR-0005",
        "core/ADR-005",
        "be2260be4e9b504a990393919699ca7c",
        "Keep it in Redis",
        "keep-it-in-redis",
    ),
    "Nobody may know why",
    # the internal decision in a file of its own, and its picture
    *(
        "ADR-0006",
        "7c0de3b81f0845f0b0b4bd8cfa5d6c11",
        "Buy the rival",
        "buy-the-rival",
        "due diligence",
    ),
    # the internal learning
    *("L-9zzzz", "0f7e1c6c25c94ff0a60d4d0ad1c9b0aa", "billing key sits", "opus-secret"),
    # the decision that nobody recorded, and the record that nobody can read
    *("ADR-0099", "Unclaimed plans", "ADR-0007"),
    # what is struck out wherever it stands, and what lies at such a path
    *("falcon", "Falcon", "customers/acme", "secretive picture"),
)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository in which every kind of text names what is withheld,
    as the working folder.
    """
    monkeypatch.chdir(repo := repository(tmp_path / "repo"))
    return repo


def repository(root: Path) -> Path:
    copied("demo", root)
    _filter(root, FILTER)
    (root / "mkdocs.yml").write_text(
        "site_name: Handbook\ntheme: {name: material, font: false}\nplugins: [search, orbit]\n"
        "nav:\n- index.md\n- 'About project falcon': adr/README.md\n- Rival: "
        "adr/0006-buy-the-rival.md\n",
        "utf-8",
    )
    _texts(root)
    _records(root)
    return root


def _filter(root: Path, section: str) -> None:
    config = root / ".orbit/config.yaml"
    config.write_text(config.read_text("utf-8").partition("  publish:")[0] + section, "utf-8")


def _texts(root: Path) -> None:
    log = root / "docs/design/core/4_decisions.md"
    text = log.read_text("utf-8")
    position = text.index("\n", text.index("## ADR-0005"))
    text = (
        f"{text[:position]}\n\nNobody may know why.\n{text[position:]}\n## ADR-0099 — "
        f"Unclaimed plans\n\nSo be it.\n"
    )
    log.write_text(
        text.replace(
            "## ADR-0002",
            "ADR-0005 is out, see [why](#adr-0005--keep-it-in-redis).\n\n## ADR-0002",
            1,
        ),
        "utf-8",
    )
    (root / "docs/adr").mkdir()
    (root / "docs/adr/0006-buy-the-rival.md").write_text(
        "# 6. Buy the rival\n\n## Status\n\nAccepted\n\n## Context\n\n"
        "The due diligence is done. ![](0006-buy-the-rival/plan.svg)\n",
        "utf-8",
    )
    write(
        root, "docs/adr/0006-buy-the-rival/plan.svg", "<svg><title>secretive picture</title></svg>"
    )
    (root / "docs/adr/README.md").write_text(
        "# All of them\n\n| [ADR-0006](0006-buy-the-rival.md) | Buy the\nrival |\n\n"
        "- [six](0006-buy-the-rival.md#status)\n"
        "- ADR 5, `adr-0005`, ADR-0005, Project  Falcon, [there](../customers/acme.md)\n",
        "utf-8",
    )
    (root / "docs/index.md").write_text(
        "# Home\n\nRead [six](adr/0006-buy-the-rival.md) by project falcon, L-9zzzz.\n", "utf-8"
    )
    write(root, "docs/customers/acme.md", "# Ours\n")
    (root / "docs/data.json").write_text('{"see": "ADR-0006, project falcon"}', "utf-8")


def _records(root: Path) -> None:
    template = (root / ".orbit/adrs/ADR-0005/adr.yaml").read_text("utf-8")
    six = template.replace("ADR-0005", "ADR-0006").replace(
        "be2260be4e9b504a990393919699ca7c", "7c0de3b81f0845f0b0b4bd8cfa5d6c11"
    )
    six = (
        six.replace("Keep it in Redis", "Buy the rival")
        .replace("rejected", "accepted")
        .replace("[storage]", "[storage, internal]")
    )
    head, _, tail = six.partition("source: ")
    six = (
        f"{head}source: {{path: "
        f"docs/adr/0006-buy-the-rival.md}}\n{tail.partition(chr(10))[2]}supersedes: [ADR-0004]\n"
    )
    _put(root, "adrs/ADR-0006/adr.yaml", six)
    _put(root, "adrs/ADR-0005/adr.yaml", f"{template}legacy_ids: [core/ADR-005]\n")
    _put(root, "adrs/ADR-0007/adr.yaml", "title: broken beyond\nstatus: [\n")
    two = (root / ".orbit/adrs/ADR-0002/adr.yaml").read_text("utf-8")
    two = two.replace("supersedes: [ADR-0001]", "supersedes: [ADR-0001, ADR-0005]").replace(
        "[{rel: amends, to: ADR-0003}]",
        "[{rel: amends, to: ADR-0003}, {rel: related_to, to: ADR-0006}]",
    )
    two = two.replace("evidence: [", "evidence: [{kind: record, reference: L-9zzzz}, ").replace(
        "Store sessions in files", "Store sessions in files of project Falcon"
    )
    _put(root, "adrs/ADR-0002/adr.yaml", two)
    learning = (root / ".orbit/learnings/L-7k3fq/learning.yaml").read_text("utf-8")
    text = learning.replace("L-7k3fq", "L-9zzzz").split("\n")
    text = [
        "uid: 0f7e1c6c25c94ff0a60d4d0ad1c9b0aa" if line.startswith("uid:") else line
        for line in text
    ]
    text = [
        "summary: The billing key sits in a drawer" if line.startswith("summary:") else line
        for line in text
    ]
    _put(root, "learnings/L-9zzzz/learning.yaml", "\n".join(text) + "\nlabels: [INTERNAL]\n")
    _put(
        root,
        "learnings/L-9zzzz/votes.jsonl",
        '{"learning_id": "L-9zzzz", "voter_model": "opus-secret", "voted_at": '
        '"2026-05-01T00:00:00Z", '
        '"task_id": "TASK-1"}\n',
    )
    _put(
        root,
        "learnings/L-7k3fq/learning.yaml",
        f"{learning.rstrip()}\nlinks: [{{rel: extends, to: L-9zzzz}}]\n"
        "x-note: see ADR-0006 in docs/adr/0006-buy-the-rival.md\n",
    )


@pytest.fixture(autouse=True, scope="module")
def plain() -> Iterator[None]:
    """Compress nothing, so that bytes can be looked for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("orbit_registry.snapshot.export.COMPRESSION", "uncompressed")
        yield


def _put(root: Path, path: str, text: str) -> None:
    file = root / ".orbit" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")


def build(root: Path, out: Path, snapshot: bool = True) -> SiteResult:
    return build_site(Registry.open(root), out, "https://example.org/site/", snapshot=snapshot)


def leaks(folder: Path) -> list[str]:
    """Return where a sentinel stands: in a file's name, its bytes, what it unpacks to,
    or a row of a database.
    """
    leaked = []
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = file.read_bytes()
        texts = [str(file.relative_to(folder)).encode(), content]
        if content[:2] == b"\x1f\x8b":
            texts.append(gzip.decompress(content))
        if file.suffix in (".duckdb", ".parquet"):
            texts.append(_rows(file).encode())
        leaked += [
            f"{file.relative_to(folder)}: {word}"
            for word in SENTINELS
            if any(word.encode() in text for text in texts)
        ]
    return leaked


def _rows(file: Path) -> str:
    if file.suffix == ".parquet":
        return repr(duckdb.sql(f"FROM '{file}'").fetchall())
    with duckdb.connect(str(file), read_only=True) as database:
        tables = [
            name
            for (name,) in database.execute("SELECT table_name FROM duckdb_tables()").fetchall()
        ]
        return repr([database.execute(f'FROM "{name}"').fetchall() for name in tables])


@dataclass
class Filtered:
    """A site built twice into one folder: without the filter, then with it."""

    site: Path
    result: SiteResult
    leaked_before: set[str]
    terms_before: set[str]


def terms(site: Path) -> set[str]:
    data = json.loads((site / "search/words.json").read_text("utf-8"))
    return {term for part in ("records", "pages") for term in data[part]["terms"]}


@pytest.fixture(scope="module")
def filtered(tmp_path_factory: pytest.TempPathFactory, plain: None) -> Filtered:
    """Return a site, read only, whose folder held all that is withheld before the filter was
    written.
    """
    top = tmp_path_factory.mktemp("filtered")
    root, site = repository(top / "repo"), top / "site"
    _filter(root, "")
    build(root, site)
    leaked, before = {leak.rpartition(": ")[2] for leak in leaks(site)}, terms(site)
    _filter(root, FILTER)
    return Filtered(site, build(root, site), leaked, before)


def test_the_search_box_has_no_withheld_term(filtered: Filtered) -> None:
    withheld = {"dilig", "rival", "redi", "drawer", "falcon", "nobodi", "unclaim"}
    assert withheld <= filtered.terms_before
    assert not withheld & terms(filtered.site)


def test_no_byte_of_the_site_is_withheld(filtered: Filtered) -> None:
    assert filtered.leaked_before == set(SENTINELS)
    assert leaks(filtered.site) == []
    assert (filtered.site / "snapshot.duckdb").is_file()
    pages = {path.relative_to(filtered.site).as_posix() for path in filtered.site.rglob("*.html")}
    assert {
        "adrs/ADR-0002/index.html",
        "legacy/core/ADR-001/index.html",
        "learnings/L-7k3fq/index.html",
    } <= pages
    assert not [problem for problem in filtered.result.diagnostics if "0006" in problem.message]


def test_a_record_that_becomes_internal_is_forgotten_everywhere(root: Path, tmp_path: Path) -> None:
    build(root, tmp_path / "site")
    assert "ADR-0003" in (tmp_path / "site/adrs/ADR-0002/index.html").read_text("utf-8")

    file = root / ".orbit/adrs/ADR-0003/adr.yaml"
    file.write_text(file.read_text("utf-8").replace("[storage]", "[storage, internal]"), "utf-8")
    build(root, tmp_path / "site")
    assert not [
        path
        for path in (tmp_path / "site").rglob("*")
        if path.is_file() and b"ADR-0003" in path.read_bytes()
    ]


def test_an_exported_snapshot_holds_what_may_be_read(root: Path) -> None:
    assert orbit("snapshot", "export", "all.duckdb", "--unfiltered") == 0
    assert "Buy the rival" in _rows(root / "all.duckdb")
    assert orbit("snapshot", "export", "out/some.duckdb", "--parquet", "out/tables") == 0
    assert leaks(root / "out") == []
    with duckdb.connect(str(root / "out/some.duckdb"), read_only=True) as database:
        published = [
            row[0] for row in database.execute("SELECT id FROM records ORDER BY id").fetchall()
        ]
    assert published == ["ADR-0001", "ADR-0002", "ADR-0003", "ADR-0004", "L-7k3fq"]


def test_no_folder_or_place_of_tasks_tells_what_is_withheld(
    root: Path, tmp_path: Path, git: Git
) -> None:
    for path in (
        "src/customers/acme/a.py",
        "src/buy-the-rival/b.py",
        "src/open/c.py",
        "falcon/TASK-1.md",
    ):
        write(root, path, "pass\n")
    for path in ("work/TASK-1.md", "work/buy-the-rival.md"):
        write(root, path, "# Do it\n")
    two = root / ".orbit/adrs/ADR-0002/adr.yaml"
    two.write_text(two.read_text("utf-8").replace("[TASK-1]", "[TASK-1, buy-the-rival]"), "utf-8")
    config = root / ".orbit/config.yaml"
    tasks = "freshness: {tasks: ['falcon/{id}.md', 'project falcon/{id}.md', 'work/{id}.md']}\n"
    config.write_text(config.read_text("utf-8").replace("site:\n", f"{tasks}site:\n", 1), "utf-8")
    git(root, "init", "--quiet")
    git(root, "add", "--all")

    def shown(section: str) -> tuple[str, str]:
        _filter(root, section)
        build(root, tmp_path / "site", snapshot=False)
        health, listed = (
            (tmp_path / "site" / name / "index.html").read_text("utf-8")
            for name in ("health", "tasks")
        )
        return health, listed

    health, listed = shown("")
    assert all(f"src/{name}/" in health for name in ("customers", "buy-the-rival", "open"))
    assert all(
        name in listed
        for name in ("falcon/{id}.md", "project falcon/{id}.md", "work/buy-the-rival.md")
    )
    health, listed = shown(FILTER.replace("customers", "falcon/|customers"))
    assert "src/open/" in health
    assert "work/TASK-1.md" in listed
    assert "work/{id}.md" in listed
    assert not [word for word in ("customers", "rival", "falcon") if word in health + listed]


def test_a_decision_at_a_redacted_path_is_withheld(root: Path) -> None:
    (root / "docs/customers/terms.md").write_text("# 8. Terms\n\n## Status\n\nAccepted\n", "utf-8")
    six = (
        (root / ".orbit/adrs/ADR-0006/adr.yaml").read_text("utf-8").replace("ADR-0006", "ADR-0008")
    )
    six = six.replace("adr/0006-buy-the-rival", "customers/terms").replace(
        "7c0de3b81f", "7c0de3b820"
    )
    _put(
        root,
        "adrs/ADR-0008/adr.yaml",
        six.replace("Buy the rival", "Terms").replace(", internal", ""),
    )
    for name, words in (("all", ["--unfiltered"]), ("some", [])):
        assert orbit("snapshot", "export", f"{name}.duckdb", *words) == 0
    assert ["ADR-0008" in _rows(root / f"{name}.duckdb") for name in ("all", "some")] == [
        True,
        False,
    ]


def test_patterns_alone_take_a_decision_out_of_its_log(
    root: Path, tmp_path: Path, git: Git
) -> None:
    for path in ("src/customers/acme.py", "src/open.py"):
        write(root, path, "# ADR-0002\n")
    learning = root / ".orbit/learnings/L-7k3fq/learning.yaml"
    stale = (
        f"freshness: {{fingerprint: [{{input: src/customers/gone.py, hash: sha256:{'0' * 64}}}]}}\n"
    )
    learning.write_text(learning.read_text("utf-8") + stale, "utf-8")
    _filter(
        root,
        "  publish:\n    redact: ['ADR-0005', 'customers/[a-z]+']\n  title: Of customers/acme\n"
        "code: [src/**]\n",
    )
    git(root, "init", "--quiet")
    git(root, "add", "--all")

    build(root, tmp_path / "site", snapshot=False)

    pages = {path: path.read_text("utf-8") for path in (tmp_path / "site").rglob("*.html")}
    assert "Unclaimed plans" in (log := pages[tmp_path / "site/design/core/4_decisions/index.html"])
    assert "Nobody may know why" not in log
    assert "src/open.py" in pages[tmp_path / "site/adrs/ADR-0002/index.html"]
    assert [path for path, html in pages.items() if "customers" in html] == []


def test_a_withheld_name_in_disguise_is_on_no_page(root: Path, tmp_path: Path) -> None:
    with (root / "docs/index.md").open("a", encoding="utf-8") as file:
        file.write(
            "\nL-9<foo>zz</foo>zz, L-9z<x-y a='b'/>zzz, L-9zz<?php?>zz, L-9zzz<!x>z, "
            "pro<Blink>ject</Blink> falcon.\n"
            "\nL&#45;9zz&#122;z, L-9z&shy;zzz, <b>L</b>-9zzzz, AD\u200bR-0006, "
            "pro&shy;ject&nbsp;fal\u00adcon.\n\n"
            "[Keep it](https://example.org/k) in Redis, Keep&nbsp;it&nbsp;in&nbsp;Re<i>dis</i>.\n"
        )
    build(root, tmp_path / "site", snapshot=False)
    tree = (
        (tmp_path / "site/index.html")
        .read_text("utf-8")
        .replace("\u00ad", "")
        .replace("\u200b", "")
    )
    text = re.sub(r"<[^>]+>|&shy;", "", tree)
    assert "https://example.org/k" in tree
    assert not [word for word in ("9zzzz", "ADR-0006", "Redis", "falcon") if word in text]
    assert leaks(tmp_path / "site") == []


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("redact: ['a(b']", "redact: 'a(b' is not a regular expression"),
        ("redact: ['x*']", "matches the empty text"),
        ("redact: ['x(a+)+b']", "repeats a repetition in '(a+)+'"),
        ("statuses: ['!reject']", "there is no 'reject'"),
        ("kinds: [adrs]", "there is no 'adrs'"),
        ("tagss: [a]", "tagss"),
    ],
)
def test_a_filter_that_can_not_be_meant_stops_every_command(
    root: Path, section: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _filter(root, f"  publish:\n    {section}\n")
    for command in (
        ["check"],
        ["init", "--yes"],
        ["site", "build"],
        ["snapshot", "export", "x.duckdb"],
    ):
        assert orbit(*command) == 2
        answer = capsys.readouterr().err
        assert words in answer
        assert "config.yaml:7:" in answer or "config.yaml:6:" in answer
    assert not (root / "x.duckdb").exists()


def orbit(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(words)
    return int(ended.value.code or 0)
