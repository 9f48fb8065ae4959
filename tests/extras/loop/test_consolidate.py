"""Clusters of learnings, and learnings to retire."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from orbit_loop.consolidate import (
    MOST_MEMBERS,
    Cluster,
    clusters,
    retirement_candidates,
    without_derived,
)
from orbit_loop.history import History
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.model.votes import Vote
from orbit_registry.repository.codec import record_of

KIND = load_kinds()["learning"]
NOW = datetime(2026, 11, 22, tzinfo=UTC)
SAID = {
    "L-00001": (
        "Close database fixtures in pytest, or it hangs at exit",
        ["testing"],
        ["tests/unit/**"],
    ),
    "L-00002": (
        "Database fixtures of pytest leak connections unless closed",
        ["testing"],
        ["tests/unit/db/**"],
    ),
    "L-00003": (
        "Sign the release tag before publishing wheels",
        ["release"],
        [".github/workflows/release.yml"],
    ),
    "L-00004": (
        "Publishing wheels needs a signed tag of the release",
        ["release"],
        [".github/workflows/release.yml"],
    ),
    "L-00005": ("Tooltips vanish when the sidebar is folded", ["css"], ["web/sidebar/**"]),
    "L-00006": ("Migrations run in one transaction on Postgres", ["sql"], ["migrations/**"]),
}


def learning(
    record_id: str, title: str, tags: list[str], paths: list[str], **fields: object
) -> Record:
    data: Mapping[str, object] = {
        "id": record_id,
        "uid": f"{record_id:0>32}",
        "status": "active",
        "summary": title,
        "scope": {"tags": tags, "paths": paths},
        "created_at": "2026-01-01T00:00:00Z",
        **fields,
    }
    return record_of(data, KIND, f".orbit/learnings/{record_id}/learning.yaml")


LEARNINGS = [learning(record_id, *message) for record_id, message in SAID.items()]


def ids(result: list[Cluster]) -> set[frozenset[str]]:
    return {frozenset(entry.ids) for entry in result}


@given(st.permutations(LEARNINGS))
def test_themes_do_not_depend_on_order(records: list[Record]) -> None:
    assert ids(clusters(records)) == {
        frozenset(("L-00001", "L-00002")),
        frozenset(("L-00003", "L-00004")),
    }


def test_same_words_give_a_learning_and_a_theme_a_rule() -> None:
    twin = learning(
        "L-00007", "Sign the release tag before publishing the wheels", *SAID["L-00003"][1:]
    )
    voted = replace(twin, votes=(Vote("L-00007", "m", NOW, "T-1"),))
    (same,) = clusters([*LEARNINGS[2:3], voted, *LEARNINGS[4:]])
    fields = same.fields()
    assert (same.kind, fields["summary"]) == ("learning", twin.title)
    assert fields["links"] == [
        {"rel": "derived_from", "to": entry} for entry in ("L-00007", "L-00003")
    ]
    (theme,) = clusters([*LEARNINGS[:2], *LEARNINGS[4:]])
    fields = theme.fields()
    assert theme.kind == "rule"
    assert "#testing" in theme.shared
    assert fields["scope"] == {"paths": ["tests/unit/**", "tests/unit/db/**"], "tags": ["testing"]}
    assert all(entry.title in str(fields["rationale"]) for entry in LEARNINGS[:2])


def test_clusters_are_no_chains_and_stay_small() -> None:
    words = [
        f"{first}word {second}word" for first, second in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    chain = [learning(f"L-1000{number}", message, [], []) for number, message in enumerate(words)]
    assert max((len(entry.members) for entry in clusters(chain)), default=0) <= 3
    alike = [
        learning(f"L-200{number:02}", f"Retry uploads of part {number % 2}", ["io"], [])
        for number in range(40)
    ]
    assert max(len(entry.members) for entry in clusters(alike)) == MOST_MEMBERS
    assert clusters([]) == clusters(LEARNINGS[:1]) == []


def test_a_decided_cluster_is_not_proposed_again() -> None:
    result = clusters(LEARNINGS)
    links = [{"rel": "derived_from", "to": entry} for entry in ("L-00001", "L-00002")]
    settled = learning("L-00009", "Close what you open", [], [], status="rejected", links=links)
    assert ids(without_derived(result, RecordSet([*LEARNINGS, settled]))) == {
        frozenset(("L-00003", "L-00004"))
    }


def test_unused_learnings_may_be_retired() -> None:
    votes = (Vote("L-00003", "m", NOW, "T-1"),)
    new = learning("L-00008", "Quite new", [], [], created_at="2026-11-20T00:00:00Z")
    current = RecordSet([*LEARNINGS[:2], replace(LEARNINGS[2], votes=votes), *LEARNINGS[3:], new])
    usage = History(90.0, 60, Counter({"L-00001": 12, "L-00002": 12, "L-00004": 9, "L-00006": 30}))
    usage.opened = Counter({"L-00002": 3})
    usage.failed_before = Counter({"L-00006": 4})
    assert retirement_candidates(current, usage, NOW) == {
        "L-00001": "shown in 12 sessions, opened in none, without a vote",
        "L-00005": "never shown in 90 days and 60 sessions",
    }
    assert retirement_candidates(current, History(90.0, 5), NOW) == {}


def test_contradicted_learnings_may_be_retired() -> None:
    link = [{"rel": "contradicts", "to": "L-00005"}]
    against = learning("L-00010", "Tooltips are fine", [], [], links=link)
    result = retirement_candidates(RecordSet([*LEARNINGS, against]), History(), NOW)
    assert result == {"L-00005": "contradicted by L-00010"}
