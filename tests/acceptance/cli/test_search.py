"""Search at the command line: two tiers, clear answers where there is nothing, every kind alike."""

from typing import Any

import duckdb
import pytest
from tests.files import configure

from orbit_registry.mcp import read_tools
from orbit_registry.mcp.tools import Caller, ToolCall
from orbit_registry.registry import Registry


def ids(shell: Any, *arguments: str) -> list[str]:
    code, envelope = shell.json(*arguments)
    assert code == 0, envelope
    return [hit["id"] for hit in envelope["data"]["hits"]]


def test_a_tag_is_found_by_its_other_names(shell: Any) -> None:
    formal = shell.learn("Drain nodes in order", "--tag", "kubernetes")
    short = shell.learn("Drain queues in order", "--tag", "k8s")
    shell.learn("Drain sinks in order", "--tag", "plumbing")
    configure(shell.root, "tags: {aliases: {k8s: kubernetes, kube: kubernetes}}\n")

    for name in ("kubernetes", "k8s", "kube"):
        assert set(ids(shell, "search", "drain", "--tag", name)) == {formal, short}
        assert {row["id"] for row in shell.data("learning", "list", "--tag", name)} == {formal, short}
        assert {row["id"] for row in shell.data("match", "--tag", name)["matches"]} == {formal, short}
        assert set(ids(shell, "search", "drain", "--context-tags", name)[:2]) == {formal, short}
    assert "Drain nodes" in shell("brief", "--for", "prompt", "--tag", "kube")[1]


@pytest.mark.parametrize(
    "text", ["postgres", "is ADR-0001 it's own?", "postgres at rest", "continue", "nothing-has-it", "0255"]
)
def test_a_question_in_sql_finds_the_same(shell: Any, text: str) -> None:
    shell.learn("Vacuum Postgres at night")
    rest = shell.learn("Rest after lunch", "--body", "Postgres rests too.")
    with (shell.root / f".orbit/learnings/{rest}/learning.yaml").open("a", encoding="utf-8") as record:
        record.write('legacy_ids: ["0255"]\n')
    quoted = text.replace("'", "''")
    sql = f"SELECT id, score FROM search('{quoted}')"

    hits = shell.data("search", text, "--budget", "deep" if "?" in text else "balanced")["hits"]
    ids = shell.data("query", sql)

    if text == "0255":
        assert [row["id"] for row in ids] == [rest]
    assert [(row["id"], round(row["score"], 4)) for row in ids] == [(hit["id"], round(hit["score"], 4)) for hit in hits]
    question = ToolCall(Registry.open(shell.root), Caller("agent", ""), {"sql": sql})
    assert read_tools.query(question).data["rows"] == ids
    if not duckdb.__version__.startswith("1."):  # which can't ask it once for each row
        each = shell.data("query", "SELECT count(*) AS n FROM records, LATERAL (FROM search(title))")
        assert each[0]["n"] > 0


def test_hits_are_narrowed_by_tag_and_path(shell: Any) -> None:
    record_id = shell.learn("Lock the ledger", "--tag", "db", "--tag", "care", "--path", "src/**")
    two = shell.learn("Lock the door", "--tag", "db", "--path", "lib/**")

    assert set(ids(shell, "search", "lock", "--tag", "db")) == {record_id, two}
    assert ids(shell, "search", "lock", "--tag", "db", "--tag", "care") == [record_id]
    assert ids(shell, "search", "lock", "--path", "src/app.py") == [record_id]
    assert ids(shell, "search", "lock", "--path", "./lib/new/x.py") == [two]
    assert shell("search", "lock", "--path", "../x")[0] == 2


def test_what_does_not_hold_is_found_with_all(shell: Any) -> None:
    waits = shell.learn("Leap years have 366 days", "--pending")
    shell("learning", "retire", shell.learning)

    assert ids(shell, "search", "leap") == []
    assert set(ids(shell, "search", "leap", "--all")) == {shell.learning, waits}


def test_symbols_tags_labels_and_seeds_are_found(shell: Any) -> None:
    added = shell.learn("One", "--label", "performance",
        "--set", "scope={tags: [network], symbols: ['src/app.py::OpenSession'], semantic_seed: handshake}")  # fmt: skip

    for words in ("open session", "handshake", "network", "performance"):
        assert ids(shell, "search", words) == [added]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "nothing to search for"),
        (["  "], "nothing to search for"),
        (["the", "of"], "nearly every text has"),
        (["🦊"], "no letter and no digit"),
        (["%"], "no letter and no digit"),
        (["leap", "--version", ""], "a version is empty"),
    ],
)
def test_a_query_without_words_is_a_wrong_call(shell: Any, arguments: list[str], words: str) -> None:
    code, _, err = shell("search", *arguments)

    assert code == 2
    assert words in err
    assert "hint" in err


def test_a_scope_without_words_leads_to_all_in_it(shell: Any) -> None:
    first = shell.learn("Close each socket", "--tag", "network", "--path", "src/**")
    second = shell.learn("Name each lock", "--tag", "network", "--path", "src/app.py")
    shell("learning", "vote", first, "--task", "T-1", "--model", "m")

    assert ids(shell, "search", "--tag", "network") == [first, second]
    assert ids(shell, "learning", "search", "--path", "src/app.py") == [first, second]


def test_words_that_no_record_has_are_named(shell: Any) -> None:
    code, out, err = shell("search", "leap", "xyzzy")
    assert (code, "Look before you leap" in out, "no record has xyzzy" in err) == (0, True, True)

    code, out, err = shell("search", "xyzzy")
    assert (code, out, "no record has xyzzy" in err) == (0, "nothing found\n", True)
    assert shell.data("search", "leap", "xyzzy")["unknown"] == ["xyzzy"]


def test_equal_scores_stand_as_records_are_pushed(shell: Any) -> None:
    record_id, two, three = (shell.learn(f"Flush {word}") for word in ("pipes", "wells", "tanks"))
    shell("learning", "update", two, "--priority", "9")
    shell("learning", "vote", three, "--task", "T-1")

    assert ids(shell, "search", "flush") == [three, two, record_id]
    listed = shell.data("learning", "list", "--sort", "votes", "--limit", "2")
    assert [row["id"] for row in listed] == [three, two]


@pytest.mark.parametrize("text", ["continue", "fix it", "ok"])
def test_a_generic_text_gives_nothing(shell: Any, text: str) -> None:
    shell.learn("Continue on the next line, ok, to fix it")

    code, out, err = shell("search", text)

    assert (code, out, "put a word in quotes" in err) == (0, "nothing found\n", True)
    assert "put a word in quotes" in shell.data("search", text)["note"]
    assert ids(shell, "search", '"continue"') != []


def test_tags_in_context_weigh_more(shell: Any) -> None:
    first = shell.learn("Flush pipes", "--tag", "db")
    second = shell.learn("Flush pipes and wells", "--tag", "net", "--tag", "ci")

    assert ids(shell, "search", "flush pipes") == [first, second]
    assert ids(shell, "search", "flush pipes", "--context-tags", "net=9,ci") == [second, first]
    envelope = shell.json("search", "flush", "--context-tags", "db=1.5,net,ci=1.3", "--explain")[1]
    factors = {hit["id"]: hit["parts"]["context"] for hit in envelope["data"]["hits"]}
    assert factors == {first: 1.15, second: 1.27}
    assert max(hit["score"] for hit in shell.data("search", "flush", "--context-tags", "db=99")["hits"]) == 1
    assert shell("search", "flush", "--context-tags", "db=x")[0] == 2


def test_a_budget_changes_what_is_looked_at(shell: Any) -> None:
    record_id = [shell.learn(f"Flush {'the ' * number} pipes {number}", "--body", f"No {number}.")
            for number in range(12)]  # fmt: skip
    other = shell.learn("Wells stand open", "--body", "Nothing alike.")
    shell("learning", "update", record_id[0], "--set", f"links=[{{rel: related_to, to: {other}}}]")

    for budget, number in (("lean", 5), ("balanced", 10)):
        data = shell.data("search", "flush", "--budget", budget)
        assert (len(data["hits"]), data["omitted"], data["budget"]) == (number, 12 - number, budget)
    data = shell.data("search", "flush pipes 0", "--budget", "deep", "--explain")
    (linked,) = [hit for hit in data["hits"] if hit["id"] == other]
    assert (linked["parts"]["via"], linked["matched"]) == (record_id[0], [])
    assert linked["score"] < data["hits"][0]["score"]
    assert len(ids(shell, "search", "flush", "--limit", "3")) == 3
    assert shell("search", "flush", "--budget", "huge")[0] == 2


def test_an_id_finds_its_record_first(shell: Any) -> None:
    added = shell.learn(f"After {shell.learning} came this")

    assert ids(shell, "search", shell.learning) == [shell.learning, added]
    assert ids(shell, "search", "why", "does", shell.learning, "hold")[0] == shell.learning
    assert ids(shell, "search", shell.learning, "--kind", "adr") == []


def take(shell: Any, what: str, name: str, text: str, *arguments: str) -> str:
    (shell.root / name).write_text(text, "utf-8")
    code, envelope = shell.json("import", what, name, *arguments)
    assert code == 0, envelope
    return str(envelope["data"]["id"])


LONG = "# Guide\n\n" + "".join(
    f"## Part {name}\n\n{'All about ' + name + ' and how it is done. ' * 40}\n\n"
    for name in ("setup", "rollback", "audit")
)


def test_a_long_text_is_found_by_its_best_part(shell: Any) -> None:
    record_id = take(shell, "doc", "guide.md", LONG)

    (hit,) = shell.data("search", "rollback")["hits"]
    assert (hit["id"], hit["versions"]) == (record_id, ["unversioned"])
    assert "rollback" in hit["chunk"]["breadcrumb"]
    first, last = hit["chunk"]["lines"]
    assert "## Part rollback" in LONG.splitlines()[first - 1 : last]
    assert "rollback" in hit["snippet"]
    assert f":{first}-{last}" in shell("search", "rollback")[1]
    assert ids(shell, "search", "rollback", "--budget", "lean") == []
    assert ids(shell, "search", "guide", "--budget", "lean") == [record_id]


def test_an_identifier_is_searched_in_chunks_too(shell: Any) -> None:
    record_id = take(shell, "doc", "guide.md", LONG.replace("about rollback", "about auth_handler"))

    data = shell.data("search", "auth_handler")

    assert ([hit["id"] for hit in data["hits"]], data["budget"]) == ([record_id], "balanced")
    assert ids(shell, "search", "auth_handler", "--budget", "lean") == []


def test_hits_stand_in_groups(shell: Any) -> None:
    doc = take(shell, "doc", "leap.md", "# Leap seconds\n\nLeap.\n")
    script = take(shell, "script", "leap.sh", "#!/bin/sh\n# leap\n")
    out = shell("search", "leap")[1]

    places = [out.index(record_id) for record_id in (script, shell.learning, doc)]
    assert places == sorted(places)
    headings = [line for line in out.splitlines() if line and line[0] not in " 0123456789a"]
    assert headings == ["Scripts (resources)", "Learnings", "Docs (resources)"]
    assert set(ids(shell, "search", "leap")) == {doc, script, shell.learning}


def test_versions_weigh_and_narrow(shell: Any) -> None:
    record_ids = {}
    for name, versions in (
        ("exact", "2 3"), ("more", "2 3 4"), ("some", "3"), ("partly", "2 4"), ("other", "1"), ("none", ""),
    ):  # fmt: skip
        names = [word for version in versions.split() for word in ("--version", version)]
        record_ids[name] = take(shell, "doc", f"{name}.md", f"# Cutover {name}\n\nText.\n", *names)
    question = ("search", "cutover", "--version", "2", "--version", "3", "--explain")

    factors = {hit["id"]: hit["parts"]["version"] for hit in shell.data(*question)["hits"]}
    expected = {"exact": 1.0, "more": 0.95, "some": 0.85, "partly": 0.75, "none": 0.7}
    assert factors == {record_ids[name]: factor for name, factor in expected.items()}
    plain = shell.data("search", "cutover", "--explain")["hits"]
    assert [hit["parts"]["version"] for hit in plain] == [1.0] * 6
