"""What a change reaches: whoever is one group with it, and whoever asks for it; nobody who asks for the same."""

from __future__ import annotations

from orbit_registry.checks.members import Member, Reach

HUB = {
    "hub": Member("1", ["ADR-0001"]),
    "a": Member("1", ["L-aaaa1"], ["ADR-0001"]),
    "b": Member("1", ["L-aaaa2"], ["ADR-0001"]),
    "old": Member("1", ["L-aaaa3", "L-aaaa4"]),
    "new": Member("1", ["L-aaaa4"]),
    "beside": Member("1", ["L-aaaa5"], ["L-aaaa3"]),
    "alone": Member("1", ["L-aaaa6"]),
}


def test_who_asks_for_the_same_is_not_reached() -> None:
    """A changed record that links to a much cited decision reaches none of the others that do."""
    assert Reach(HUB, HUB).of(["a"]) == {"a"}
    assert Reach(HUB, HUB).asked_by(["a"]) == {"hub"}


def test_whoever_asks_for_what_changed_is_reached() -> None:
    """A changed decision reaches every record that cites it."""
    assert Reach(HUB, HUB).of(["hub"]) == {"hub", "a", "b"}


def test_a_group_is_reached_whole_with_those_who_ask_for_any_of_it() -> None:
    """Where one end of a supersession changes, the other is reached, and so is who links to that."""
    assert Reach(HUB, HUB).of(["new"]) == {"old", "new", "beside"}


def test_what_is_gone_reaches_whoever_asked_for_it() -> None:
    """A record that is no longer there reaches those whose links now lead nowhere."""
    now = {path: member for path, member in HUB.items() if path != "hub"}
    assert Reach(HUB, now).of(["hub"]) == {"a", "b"}


def test_records_that_say_nearly_the_same_are_one_group() -> None:
    """Where one of two such records changes, both are reached."""
    now = {
        **HUB,
        "a": HUB["a"]._replace(pairs=[["alone", 0.9, True]]),
        "alone": HUB["alone"]._replace(pairs=[["a", 0.9, True]]),
    }
    assert Reach(now, now).of(["a"]) == {"a", "alone"}
