"""What a record for some versions is worth to who asks for others."""

from __future__ import annotations

import pytest

from orbit_registry.model.scope import version_factor


@pytest.mark.parametrize(
    ("own", "asked", "factor"),
    [
        ({"2", "3"}, {"2", "3"}, 1.0),
        ({"2", "3", "4"}, {"2", "3"}, 0.95),
        ({"3"}, {"2", "3"}, 0.85),
        ({"2", "4"}, {"2", "3"}, 0.75),
        ({"unversioned"}, {"2", "3"}, 0.70),
        (set(), {"2", "3"}, 0.70),
        ({"1"}, {"2", "3"}, 0.0),
        ({"unversioned"}, {"unversioned"}, 1.0),
        ({"1"}, {"unversioned"}, 0.0),
        ({"1"}, set(), 1.0),
        ({"unversioned"}, set(), 1.0),
        (set(), set(), 1.0),
    ],
)
def test_versions_that_overlap_more_are_worth_more(own: set[str], asked: set[str], factor: float) -> None:
    """Exact, superset, subset, partial, unversioned; disjoint is out, and who asks for none gets all as they are."""
    assert version_factor(own, asked) == factor
