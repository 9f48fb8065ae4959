"""What records become in the tables."""

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.search.texts import counts_of
from orbit_registry.snapshot.references import References, citing_references

HASH = f"sha256:{'ab' * 32}"


def test_a_records_fields_are_columns(project: Any) -> None:
    project.learning(
        "aaaaa",
        body="Why.\nHow.",
        category="auth",
        priority=7,
        procedural=True,
        confidence="high",
        labels=["x"],
        created_by={"name": "ada", "role": "human"},
        **{"x-own": {"deep": [1, None]}},
    )
    (row,) = project.ask(
        "SELECT id, kind, title, status, phase, pushed, searched, inbox, category, body, "
        "priority, confidence, "
        "procedural, path, author, author_role, CAST(created_at AS VARCHAR), data FROM records"
    )
    assert row[:-1] == (
        "L-aaaaa",
        "learning",
        "Summary aaaaa",
        "active",
        "live",
        True,
        True,
        False,
        "auth",
        "Why.\nHow.",
        7,
        "high",
        True,
        ".orbit/learnings/L-aaaaa/learning.yaml",
        "ada",
        "human",
        "2026-05-17 12:00:00",
    )
    assert json.loads(row[-1])["x-own"] == {"deep": [1, None]}


def test_rejected_options_are_those_of_the_record_else_of_its_text(project: Any) -> None:
    text = "# Title 1\n\nStatus: Accepted\n\n## Alternatives considered\n\n- Kafka: a server.\n"
    project.write("docs/adr/0001-x.md", text)
    rejected = [
        {"option": "Redis", "names": ["redis-py"]},
        {"option": "SQS", "reason": "one cloud"},
    ]
    project.adr(1, source={"path": "docs/adr/0001-x.md"}, rejected=rejected)
    project.adr(2, source={"path": "docs/adr/0001-x.md"})

    assert project.ask("SELECT * FROM rejected_options ORDER BY ALL") == [
        ("ADR-0001", 0, "Redis", None),
        ("ADR-0001", 1, "SQS", "one cloud"),
        ("ADR-0002", 0, "Kafka", "a server"),
    ]


def test_prose_comes_from_its_one_home(project: Any) -> None:
    project.write(
        "docs/adr/0001-x.md",
        "# ADR-0001 — Title 1\n\nStatus: Accepted\n\n## Context\n\nIn the file.\n",
    )
    project.write(
        "docs/design/f/4_decisions.md",
        "# Log\n\n## ADR-0002 — Title 2\n\nStatus: Accepted\n\nSecond.\n\n## ADR-0003 — Title "
        "3\n\nThird.\n",
    )
    project.adr(1, source={"path": "docs/adr/0001-x.md"})
    for number in (2, 3):
        project.adr(
            number,
            source={
                "path": "docs/design/f/4_decisions.md",
                "heading": f"ADR-000{number}",
                "format": "log",
            },
        )
    project.adr(4)
    project.write(".orbit/adrs/ADR-0004/body.md", "Beside.\n")
    project.adr(5, source={"path": "docs/adr/none.md"})
    project.adr(6, source={"path": "../outside.md"})
    bodies = dict(project.ask("SELECT id, body FROM records"))
    assert "In the file." in bodies["ADR-0001"]
    assert "Second." in bodies["ADR-0002"]
    assert "Third." not in bodies["ADR-0002"]
    assert "Third." in bodies["ADR-0003"]
    assert bodies["ADR-0004"].strip() == "Beside."
    assert bodies["ADR-0005"] == bodies["ADR-0006"] == ""
    roles = project.ask("SELECT role, count(*) FROM sources GROUP BY role ORDER BY role")
    assert roles == [("body", 1), ("document", 2), ("record", 6)]


def test_links_are_resolved_and_supersession_is_derived(project: Any) -> None:
    project.adr(1, superseded_by=["ADR-0002"], status="superseded", legacy_ids=["old/ADR-007"])
    project.adr(2, supersedes=["ADR-0001"], links=[{"rel": "related_to", "to": "old/ADR-007"}])
    project.adr(
        3, links=[{"rel": "references", "to": "nowhere"}, {"rel": "extends", "to": "ADR-007"}]
    )
    assert project.ask(
        "SELECT record_id, rel, target, target_id, derived FROM links ORDER BY ALL"
    ) == [
        ("ADR-0002", "related_to", "old/ADR-007", "ADR-0001", False),
        ("ADR-0002", "supersedes", "ADR-0001", "ADR-0001", True),
        ("ADR-0003", "extends", "ADR-007", "ADR-0001", False),
        ("ADR-0003", "references", "nowhere", None, False),
    ]


def test_small_tables_hold_one_fact_a_row(project: Any) -> None:
    project.learning(
        "aaaaa",
        scope={
            "paths": ["src/**", "!src/x.py"],
            "tags": ["a", "b"],
            "agents": ["dev"],
            "symbols": ["m.py::f"],
        },
        labels=["l"],
        evidence=[{"kind": "task", "reference": "T-1"}],
        legacy_ids=["x/L-1"],
        freshness={
            "volatility": "volatile",
            "expires_at": "2027-01-01T00:00:00+02:00",
            "fingerprint": [{"input": "a.py", "hash": HASH}, {"input": "b.py"}],
        },
    )
    project.votes(
        "aaaaa", ("m", "T-1", "2026-03-01T00:00:00Z"), ("m", "T-1", "2026-02-01T00:00:00Z")
    )
    assert project.ask("SELECT axis, tag FROM tags ORDER BY ALL") == [
        ("agent", "dev"),
        ("label", "l"),
        ("symbol", "m.py::f"),
        ("tag", "a"),
        ("tag", "b"),
    ]
    assert project.ask("SELECT position, kind, reference FROM evidence") == [(0, "task", "T-1")]
    assert project.ask("SELECT * FROM legacy_ids") == [("x/L-1", "L-aaaaa")]
    assert project.ask(
        "SELECT voter_model, task_id, CAST(voted_at AS DATE)::VARCHAR FROM votes"
    ) == [("m", "T-1", "2026-02-01")]
    assert project.ask(
        "SELECT position, volatility, CAST(expires_at AS VARCHAR), input, hash FROM freshness"
    ) == [
        (0, "volatile", "2026-12-31 22:00:00", "a.py", HASH),
        (1, "volatile", "2026-12-31 22:00:00", "b.py", None),
    ]
    assert project.ask("SELECT pattern, exclude FROM scope_globs ORDER BY position") == [
        ("src/**", False),
        ("!src/x.py", True),
        ("m.py::f", False),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "quotes ' \" \\ and ; --",
        "line\nbreak\r\ntab\t",
        "null \x00 byte",
        "\u202eright to left",
        "emoji 🦆",
        "{json: [1]}",
    ],
    ids=["quotes", "breaks", "null", "bidi", "emoji", "json"],
)
def test_hostile_text_arrives_as_it_is(project: Any, text: str) -> None:
    project.learning("aaaaa", body=text)
    assert project.ask("SELECT body FROM records") == [(text,)]


def test_a_record_with_a_time_the_calendar_lacks_is_left_out(project: Any) -> None:
    project.learning("aaaaa", created_at="2026-13-45T25:61:61Z")
    project.learning("bbbbb")
    assert project.ask("SELECT id FROM records") == [("L-bbbbb",)]


def test_records_of_the_inbox_are_local(project: Any, tmp_path: Path) -> None:
    project.learning("aaaaa", links=[{"rel": "related_to", "to": "L-bbbbb"}])
    before = project.sync().digest
    project.learning("bbbbb", inbox=True)
    project.learning("aaaaa", inbox=True, summary="An old copy")
    assert project.ask("SELECT id, title, phase, inbox FROM records ORDER BY id") == [
        ("L-aaaaa", "Summary aaaaa", "live", False),
        ("L-bbbbb", "Summary bbbbb", "pending", True),
    ]
    assert project.ask("SELECT id FROM system_knowledge") == [("L-aaaaa",)]
    assert project.ask("SELECT target_id FROM links") == [(None,)]
    assert project.sync().digest == before


PASSWORD = "q7Vd93kLmZ2xPw84TnRbYc"
TOKEN = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"
KEY = (
    f"-----BEGIN RSA PRIVATE KEY-----\n{'QUJDREVG' * 8}\n{'R0hJSktM' * 8}\n-----END RSA "
    f"PRIVATE KEY-----"
)


def test_no_secret_enters_by_default(project: Any) -> None:
    project.learning(
        "aaaaa",
        body=f"Use {TOKEN} here.\n{KEY}\nAfter.",
        evidence=[{"kind": "external", "reference": TOKEN}],
        labels=[f"l-{TOKEN}"],
        **{"x-own": {TOKEN: [TOKEN]}},
    )
    project.write("docs/adr/0001-x.md", f"# Title 1\n\nThe token is {TOKEN}.\n")
    project.adr(1, source={"path": "docs/adr/0001-x.md"})
    project.learning("bbbbb", body="Clean.")
    project.votes("bbbbb", ("m", TOKEN, "2026-01-01T00:00:00Z"))
    path = project.build().path
    content = path.read_bytes()
    assert TOKEN[4:].encode() not in content
    assert b"QUJDREVG" not in content
    assert b"R0hJSktM" not in content
    bodies = dict(project.ask("SELECT id, body FROM records"))
    assert (
        bodies["L-aaaaa"] == "Use [redacted: GitHub token] here.\n[redacted: private key]\nAfter."
    )
    assert bodies["L-bbbbb"] == "Clean."
    assert "The token is [redacted: GitHub token]." in bodies["ADR-0001"]


def test_files_without_a_record_become_rows(project: Any) -> None:
    project.write(".orbit/learnings/L-aaaaa/learning.yaml", "id: [")
    ((code, severity, path, line, record_id),) = project.ask(
        "SELECT code, severity, path, line, record_id FROM diagnostics"
    )
    assert (code, severity, record_id) == ("ORB102", "error", None)
    assert (path, line) == (".orbit/learnings/L-aaaaa/learning.yaml", 2)


def test_a_file_name_that_is_no_unicode_breaks_nothing(project: Any) -> None:
    project.learning("aaaaa")
    (project.root / ".orbit/learnings" / os.fsdecode(b"L-\xff\xfe")).mkdir()
    assert [code for (code,) in project.ask("SELECT code FROM diagnostics")] == ["ORB105"]
    assert not project.sync().built


def test_two_clones_have_one_digest(project: Any, tmp_path: Path) -> None:
    project.learning("aaaaa", scope={"paths": ["src/**"]})
    project.adr(1, source={"path": "docs/adr/0001-x.md"})
    project.write("docs/adr/0001-x.md", "# Title 1\n\nText.\n")
    first = project.sync()
    clone = type(project)(tmp_path / "elsewhere")
    shutil.copytree(
        project.root,
        clone.root,
        ignore=shutil.ignore_patterns("state"),
        copy_function=shutil.copyfile,
    )
    assert clone.sync().digest == first.digest
    project.learning("aaaaa", scope={"paths": ["src/*"]})
    assert project.sync().digest != first.digest


def test_reasons_of_freshness_are_rows_outside_the_digest(project: Any) -> None:
    existing = f"sha256:{hashlib.sha256(b'one').hexdigest()}"
    project.write("a.txt", "one\n")
    project.learning("aaaaa", freshness={"fingerprint": [{"input": "a.txt", "hash": existing}]})
    project.learning("bbbbb", freshness={"expires_at": "2020-01-01T00:00:00Z"})
    first = project.sync()
    columns = "SELECT record_id, state, cause, subject FROM freshness_states ORDER BY ALL"
    assert project.ask(columns) == [("L-bbbbb", "expired", "expired", "2020-01-01T00:00:00Z")]
    project.write("a.txt", "two\n")
    again = project.sync(rebuild=True)
    assert project.ask(columns)[0] == ("L-aaaaa", "stale", "fingerprint", "a.txt")
    assert again.digest == first.digest


def test_the_words_of_a_text_are_counted_once(
    project: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    titles: list[str] = []

    def counting(fields: tuple[str, str, str]) -> dict[str, int]:
        titles.append(fields[0])
        return counts_of(fields)

    monkeypatch.setattr("orbit_registry.search.texts.counts_of", counting)
    for code in ("aaaaa", "bbbbb"):
        project.learning(code)
    project.build()
    assert sorted(titles) == ["Summary aaaaa", "Summary bbbbb"]
    project.learning("aaaaa", summary="Another text")
    project.build()
    assert titles[2:] == ["Another text"]


def test_what_a_file_names_comes_from_the_cache(project: Any) -> None:
    (project.root / "docs").mkdir()
    (project.root / "docs/guide.md").write_text(
        "As ADR-0001 says, see [the log](log.md).\n", "utf-8"
    )
    first = citing_references(project.workspace, ["docs/guide.md"])
    assert first["docs/guide.md"] == References((("ADR-0001", 1),), (("log.md", 1),))
    cache = project.workspace.cache
    assert cache._rows("SELECT path FROM files WHERE namespace LIKE 'citing %'") == [
        ("docs/guide.md",)
    ]
    assert citing_references(project.workspace, ["docs/guide.md"]) == first


@pytest.mark.parametrize("between", ["\n", "\n\n", "\t", "\r\n", "\n  \n"])
def test_a_secret_behind_a_line_break_is_redacted(project: Any, between: str) -> None:
    """JSON writes a line break with two signs; the name and the value of a secret are around it."""
    reason = f"The old box has its\npassword{between}value: {PASSWORD}"
    project.adr(1, rejected=[{"option": "MySQL", "reason": reason}])
    assert PASSWORD.encode() not in project.build().path.read_bytes()
    ((stored,),) = project.ask("SELECT reason FROM rejected_options")
    assert "[redacted" in stored
