"""Which learnings belong together: themes of at least two, no chains, whatever their order; and which may go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.model.votes import Vote
from orbit_registry.repository.codec import record_of
from orbit_registry.review.consolidate import (
    MOST_MEMBERS,
    Cluster,
    Usage,
    clusters,
    retirement_candidates,
    without_derived,
)

KIND = load_kinds()["learning"]
NOW = datetime(2026, 11, 22, tzinfo=UTC)
SAID = {
    "L-00001": ("Close database fixtures in pytest, or it hangs at exit", ["testing"], ["tests/unit/**"]),
    "L-00002": ("Database fixtures of pytest leak connections unless closed", ["testing"], ["tests/unit/db/**"]),
    "L-00003": ("Sign the release tag before publishing wheels", ["release"], [".github/workflows/release.yml"]),
    "L-00004": ("Publishing wheels needs a signed tag of the release", ["release"], [".github/workflows/release.yml"]),
    "L-00005": ("Tooltips vanish when the sidebar is folded", ["css"], ["web/sidebar/**"]),
    "L-00006": ("Migrations run in one transaction on Postgres", ["sql"], ["migrations/**"]),
}


def learning(known: str, title: str, tags: list[str], paths: list[str], **fields: object) -> Record:
    """Return a learning in force."""
    data: Mapping[str, object] = {
        "id": known, "uid": f"{known:0>32}", "status": "active", "summary": title,
        "scope": {"tags": tags, "paths": paths}, "created_at": "2026-01-01T00:00:00Z", **fields,
    }  # fmt: skip
    return record_of(data, KIND, f".orbit/learnings/{known}/learning.yaml")


LEARNINGS = [learning(known, *said) for known, said in SAID.items()]


def ids(found: list[Cluster]) -> set[frozenset[str]]:
    """Return the members of clusters."""
    return {frozenset(one.ids) for one in found}


@given(st.permutations(LEARNINGS))
def test_themes_are_found_in_whatever_order(records: list[Record]) -> None:
    """Two matters have two learnings each; what stands alone is in no cluster."""
    assert ids(clusters(records)) == {frozenset(("L-00001", "L-00002")), frozenset(("L-00003", "L-00004"))}


def test_what_says_nearly_the_same_becomes_a_learning_and_a_theme_a_rule() -> None:
    """The one with a vote speaks for all; scopes are joined, and each member is what it is derived from."""
    twin = learning("L-00007", "Sign the release tag before publishing the wheels", *SAID["L-00003"][1:])
    voted = replace(twin, votes=(Vote("L-00007", "m", NOW, "T-1"),))
    (same,) = clusters([*LEARNINGS[2:3], voted, *LEARNINGS[4:]])
    fields = same.fields()
    assert (same.kind, fields["summary"]) == ("learning", twin.title)
    assert fields["links"] == [{"rel": "derived_from", "to": one} for one in ("L-00007", "L-00003")]
    (theme,) = clusters([*LEARNINGS[:2], *LEARNINGS[4:]])
    fields = theme.fields()
    assert theme.kind == "rule"
    assert "#testing" in theme.shared
    assert fields["scope"] == {"paths": ["tests/unit/**", "tests/unit/db/**"], "tags": ["testing"]}
    assert all(one.title in str(fields["rationale"]) for one in LEARNINGS[:2])


def test_a_chain_of_neighbours_is_no_theme_and_no_cluster_grows_without_bound() -> None:
    """Each shares a word with the next and none with the others; forty alike ones are parted into groups to read."""
    words = [f"{first}word {second}word" for first, second in zip("abcdefgh", "bcdefghi", strict=True)]
    chain = [learning(f"L-1000{number}", said, [], []) for number, said in enumerate(words)]
    assert max((len(one.members) for one in clusters(chain)), default=0) <= 3
    alike = [learning(f"L-200{number:02}", f"Retry uploads of part {number % 2}", ["io"], []) for number in range(40)]
    assert max(len(one.members) for one in clusters(alike)) == MOST_MEMBERS
    assert clusters([]) == clusters(LEARNINGS[:1]) == []


def test_what_came_of_a_cluster_before_is_not_proposed_again() -> None:
    """A record derived from two thirds of the members settles it, in force or rejected."""
    found = clusters(LEARNINGS)
    links = [{"rel": "derived_from", "to": one} for one in ("L-00001", "L-00002")]
    settled = learning("L-00009", "Close what you open", [], [], status="rejected", links=links)
    assert ids(without_derived(found, RecordSet([*LEARNINGS, settled]))) == {frozenset(("L-00003", "L-00004"))}


def test_what_nobody_was_shown_or_opened_may_go_where_the_log_can_tell() -> None:
    """A log of a few days says nothing; votes, age, and a good word of what came after keep a learning."""
    votes = (Vote("L-00003", "m", NOW, "T-1"),)
    new = learning("L-00008", "Quite new", [], [], created_at="2026-11-20T00:00:00Z")
    held = RecordSet([*LEARNINGS[:2], replace(LEARNINGS[2], votes=votes), *LEARNINGS[3:], new])
    usage = Usage(
        {"L-00001": 12, "L-00002": 12, "L-00004": 9}, {"L-00002": 3}, 60, 90.0, {"L-00001": 0.0, "L-00002": 0.2}
    )
    assert retirement_candidates(held, usage, NOW) == {
        "L-00001": "shown in 12 sessions, opened in none, and nothing speaks for it",
        "L-00005": "never shown in 90 days and 60 sessions", "L-00006": "never shown in 90 days and 60 sessions",
    }  # fmt: skip
    assert retirement_candidates(held, replace(usage, sessions=5, shown={}), NOW) == {}


def test_what_is_contradicted_may_go() -> None:
    """By a link, or by a learning that says the same but for a negation; who says that they differ is left alone."""
    nothing = Usage({}, {}, 0, 0.0)
    link = [{"rel": "contradicts", "to": "L-00005"}]
    against = learning("L-00010", "Tooltips are fine", [], [], links=link)
    never = learning(
        "L-00011", "Never sign the release tag before publishing wheels", [], [], created_at="2026-02-01T00:00:00Z"
    )
    found = retirement_candidates(RecordSet([*LEARNINGS, against, never]), nothing, NOW)
    assert found == {
        "L-00005": "contradicted by L-00010", "L-00003": "L-00011 says otherwise: only one of them says `never`",
        "L-00004": "L-00011 says otherwise: only one of them says `never`",
    }  # fmt: skip
    apart = replace(never, data={**never.data, "distinct_from": ["L-00003", "L-00004"]})
    assert retirement_candidates(RecordSet([*LEARNINGS, apart]), nothing, NOW) == {}
