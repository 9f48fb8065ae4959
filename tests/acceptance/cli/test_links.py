"""Links through the commands: stated and taken back, derived from texts, walked in both directions."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.files import configure, write

from orbit_registry.model.ids import INVERSES


def ties(answer: dict[str, Any]) -> dict[str, tuple[int, list[str]]]:
    rows = answer["data"]["related"]
    return {row["id"]: (row["depth"], sorted(tie["rel"] for tie in row["links"])) for row in rows}


def learning(shell: Any, summary: str, body: str = "Because.") -> str:
    arguments = ["learning", "add", "--summary", summary, "--body", body, "--path", "src/**", "--yes"]
    return str(shell.data(*arguments)["id"])


@pytest.mark.parametrize("rel", ["has_script", "proves", "related_to"])
def test_each_relation_reads_from_both_ends(shell: Any, rel: str) -> None:
    inverse = INVERSES[rel]
    start, end = ("ADR-0002", "ADR-0001") if inverse != rel else ("ADR-0001", "ADR-0002")

    code, answer = shell.json("link", "ADR-0001", inverse, "ADR-0002")

    assert (code, answer["data"]["id"], answer["data"]["rel"], answer["data"]["to"]) == (0, start, rel, end)
    assert ties(shell.json("related", start)[1]) == {end: (1, [rel])}
    assert ties(shell.json("related", end)[1]) == {start: (1, [inverse])}
    assert shell("check")[0] == 0


def test_a_link_is_stated_once_for_each_relation(shell: Any) -> None:
    assert shell("link", "ADR-0001", "amends", "ADR-0002")[0] == 0
    assert shell("link", "ADR-0001", "related_to", "ADR-0002")[0] == 0
    for again in (("ADR-0001", "amends", "ADR-0002"), ("ADR-0002", "amended_by", "ADR-0001"),
                  ("ADR-0002", "related_to", "ADR-0001")):  # fmt: skip
        code, answer = shell.json("link", *again)
        assert code == 1
        assert "stated already" in answer["error"]
    assert ties(shell.json("related", "ADR-0001")[1]) == {"ADR-0002": (1, ["amends", "related_to"])}


def test_what_is_no_link_is_refused(shell: Any) -> None:
    code, answer = shell.json("link", "ADR-0001", "amend", "ADR-0002")
    assert code == 2
    assert answer["hint"].startswith("did you mean amends?")
    assert all(word in answer["hint"] for pair in INVERSES.items() for word in pair)
    assert (
        "orbit adr supersede ADR-0002 --with ADR-0001"
        in shell.json("link", "ADR-0001", "supersedes", "ADR-0002")[1]["hint"]
    )
    assert shell("link", "ADR-0001", "amends", "ADR-0001")[0] == 1
    assert shell("link", "ADR-0001", "amends", "ADR-0042")[0] == 1
    assert shell.data("related", "ADR-0001")["related"] == []


def test_a_link_is_taken_back_alone(shell: Any) -> None:
    before = (shell.root / ".orbit/adrs/ADR-0001/adr.yaml").read_text("utf-8")
    shell("link", "ADR-0001", "amends", "ADR-0002")
    shell("link", "ADR-0001", "proves", "ADR-0002")

    assert shell("unlink", "ADR-0002", "amended_by", "ADR-0001")[0] == 0
    code, answer = shell.json("unlink", "ADR-0001", "amends", "ADR-0002")
    assert (code, "proves ADR-0002" in answer["hint"]) == (1, True)
    assert shell("unlink", "ADR-0001", "proves", "ADR-0002")[0] == 0

    after = (shell.root / ".orbit/adrs/ADR-0001/adr.yaml").read_text("utf-8")
    assert [line for line in after.splitlines() if "updated_at" not in line] == [
        line for line in before.splitlines() if "updated_at" not in line
    ]


def test_what_a_text_cites_is_derived_and_written_nowhere(shell: Any) -> None:
    document = next(path for path in Path("docs/adr").iterdir() if path.name.startswith("0002"))
    body = f"As [they said]({document}). ADR-0001 too.\n\n```\nADR-0099\n```\n"
    source = learning(shell, "Look twice before you leap", body)

    assert ties(shell.json("related", source)[1]) == {
        "ADR-0001": (1, ["references"]),
        "ADR-0002": (1, ["references"]),
    }
    assert ties(shell.json("related", "ADR-0002")[1]) == {source: (1, ["referenced_by"])}
    assert "links:" not in (shell.root / f".orbit/learnings/{source}/learning.yaml").read_text("utf-8")


def test_what_leads_nowhere_is_kept_until_its_target_arrives(shell: Any) -> None:
    source = learning(shell, "Look twice", "See [the next one](docs/adr/0003-leap.md) and ADR-0003.")
    dangling = shell.data("related", source)["dangling"]
    assert {row["to"] for row in dangling} == {"docs/adr/0003-leap.md", "ADR-0003"}

    shell("adr", "add", "--title", "Leap")

    answer = shell.json("related", source)[1]
    assert (answer["data"]["dangling"], ties(answer)) == ([], {"ADR-0003": (1, ["references"])})
    shutil.rmtree(shell.root / ".orbit/adrs/ADR-0003")
    answer = shell.json("related", source)[1]
    assert (len(answer["data"]["dangling"]), answer["data"]["related"]) == (2, [])


def test_a_documents_links_count_from_where_it_stands(shell: Any) -> None:
    folder = shell.root / "docs/guides"
    folder.mkdir(parents=True)
    links = "[style](style.md) [up](../top.md#part) [me](guide.md) [root](/docs/top.md) [out](../../../x.md)"
    (folder / "guide.md").write_text(f"# Guide\n\n{links}\n", "utf-8")
    (folder / "style.md").write_text("# Style\n\n[back](guide.md)\n", "utf-8")
    (shell.root / "docs/top.md").write_text("# Top\n", "utf-8")
    guide = shell.data("import", "doc", "docs/guides/guide.md")["id"]
    dangling = shell.data("related", guide)["dangling"]
    assert {row["to"] for row in dangling} == {"docs/guides/style.md", "docs/top.md", "docs/top.md#part"}

    style, top = (shell.data("import", "doc", f"docs/{name}.md")["id"] for name in ("guides/style", "top"))

    answer = shell.json("related", guide)[1]
    assert (answer["data"]["dangling"], set(ties(answer))) == ([], {style, top})
    assert ties(shell.json("related", style)[1])[guide][1] == ["referenced_by", "references"]


def _doc(shell: Any, path: str, text: str, *versions: str) -> str:
    file = shell.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    options = [word for version in versions for word in ("--version", version)]
    return str(shell.data("import", "doc", path, *options)["id"])


def test_a_link_leads_to_the_version_of_its_text(shell: Any) -> None:
    old, new = (_doc(shell, "docs/deploy.md", f"# Deploying\n\nStep {item}.\n", item) for item in ("2.9", "2.10"))
    first, last, later = (
        _doc(shell, f"docs/guide-{item}.md", f"# Guide {item}\n\n[deploy](deploy.md#deploying)\n", item)
        for item in ("2.9", "2.10", "3.0")
    )
    source = learning(shell, "Look twice", "As [it](docs/deploy.md) says.")
    (shell.root / "notes.md").write_text("[deploy](docs/deploy.md)\n", "utf-8")
    subprocess.run(["git", "add", "notes.md"], cwd=shell.root, check=True)

    def means(start: str) -> dict[str, list[Any]]:
        data = shell.data("related", start, "--direction", "out")
        assert data["dangling"] == []
        return {item["id"]: item["links"][0]["others"] for item in data["related"]}

    assert means(first) == {old: [{"id": new, "versions": ["2.10"]}]}
    for start in (last, later, source):
        assert means(start) == {new: [{"id": old, "versions": ["2.9"]}]}
    assert f"{new} is for 2.10; of the same file: {old} (2.9)" in shell("related", source)[1]
    assert {"path": "notes.md", "line": 1} in shell.data("related", new)["cited_in"]
    assert shell("check")[0] == 0

    every = _doc(shell, "docs/deploy.md", "# Deploying\n\nStep.\n")
    assert set(means(first)) == {old}
    assert set(means(source)) == set(means(later)) == {every}
    assert shell("resource", "retire", every)[0] == 0
    assert set(means(source)) == {new}


def test_circles_end_and_depth_and_direction_bind(shell: Any) -> None:
    for title in ("Three", "Four"):
        shell("adr", "add", "--title", title)
    for start, end in (("1", "2"), ("2", "3"), ("3", "1"), ("3", "4")):
        shell("link", f"ADR-000{start}", "extends", f"ADR-000{end}")

    def reached(*more: str) -> dict[str, int]:
        return {record: depth for record, (depth, _) in ties(shell.json("related", "ADR-0001", *more)[1]).items()}

    assert reached() == {"ADR-0002": 1, "ADR-0003": 1}
    assert reached("--depth", "9") == {"ADR-0002": 1, "ADR-0003": 1, "ADR-0004": 2}
    assert reached("--direction", "out") == {"ADR-0002": 1}
    assert reached("--direction", "out", "--depth", "3") == {"ADR-0002": 1, "ADR-0003": 2, "ADR-0004": 3}
    assert reached("--direction", "in", "--depth", "2") == {"ADR-0003": 1, "ADR-0002": 2}
    assert "ADR-0003" in shell("related", "ADR-0001", "--depth", "2")[1]


def test_code_that_cites_a_record_is_named_with_its_line(shell: Any) -> None:
    configure(shell.root, 'code: ["src/**"]\n')
    write(shell.root, "src/lock.py", "import os\n# as ADR-0001 says\n")
    subprocess.run(["git", "add", "src/lock.py"], check=True)

    assert shell.data("related", "ADR-0001")["cited_in"] == [{"path": "src/lock.py", "line": 2}]
    assert "cited in src/lock.py:2" in shell("related", "ADR-0001")[1]
    row = {"path": "src/lock.py", "line": 2, "target": "ADR-0001", "target_id": "ADR-0001"}
    assert shell.data("query", "FROM citations WHERE path LIKE 'src/%'") == [row]


def test_what_files_cite_is_a_table_that_follows_the_records(shell: Any) -> None:
    text = "ADR-0001, ADR-0001, ADR-0003, L-shaped\n\n[first](docs/adr/0001-use-sqlite.md) and [none](docs/none.md)\n"
    (shell.root / "notes.md").write_text(text, "utf-8")
    subprocess.run(["git", "add", "notes.md"], check=True)
    sql = "SELECT line, target, target_id FROM citations WHERE path = 'notes.md' ORDER BY ALL"

    def rows() -> list[tuple[Any, ...]]:
        return [tuple(row.values()) for row in shell.data("query", sql)]

    expected = [(1, "ADR-0001", "ADR-0001"), (1, "ADR-0003", None), (3, "docs/adr/0001-use-sqlite.md", "ADR-0001")]
    assert rows() == expected
    assert shell.data("query", "FROM citations WHERE path LIKE 'docs/adr/%'") == []
    shell("adr", "add", "--title", "Leap")
    assert rows() == [expected[0], (1, "ADR-0003", "ADR-0003"), expected[2]]


def test_a_link_with_a_fragment_leads_to_its_chunk(shell: Any) -> None:
    filler = "Many words about it stand here. " * 40
    guide = f"# Guide\n\n## Install\n\n{filler}\n\n## Run it\n\n{filler}\n\n## Undo\n\n{filler}\n"
    (shell.root / "docs/guide.md").write_text(guide, "utf-8")
    line = guide.split("\n").index("## Run it") + 1
    links = "[a](docs/guide.md#run-it) [b](docs/guide.md#nowhere) [c](docs/guide.md)"
    source = learning(shell, "Look twice", links)
    (shell.root / "docs/other.md").write_text(f"[x](guide.md#L{line + 2})\n", "utf-8")
    resource = str(shell.data("import", "doc", "docs/guide.md")["id"])
    subprocess.run(["git", "add", "docs"], check=True)

    part = {"breadcrumb": "Guide > Run it", "lines": [line, line + 2]}
    (row,) = shell.data("related", source)["related"]
    assert [tie["chunk"] for tie in row["links"]] == [None, part]
    assert f"references, references lines {line}-{line + 2}" in shell("related", source)[1]
    sql = "SELECT path, line, target_id, breadcrumb FROM cited_chunks WHERE path IS NOT NULL"
    assert shell.data("query", sql) == [
        {"path": "docs/other.md", "line": 1, "target_id": resource, "breadcrumb": "Guide > Run it"}
    ]


def test_an_agent_links_only_what_waits(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    candidate = learning(shell, "Look twice")

    assert shell("link", candidate, "derived_from", "ADR-0001")[0] == 0
    assert "an agent may not change it" in shell("link", "ADR-0001", "amends", "ADR-0002")[2]
    assert "an agent may not change it" in shell("link", candidate, "proved_by", "ADR-0002")[2]
