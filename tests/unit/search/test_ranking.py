"""The ranking of a fixed small set, our own records as they once were: a change that makes it worse has to say so.

The figures below are those of the ranking that serves. A new one that is better raises them; one that is worse needs
a reason, and the benchmark of recall (`nox -s bench -- recall`) to show it on other records.
"""

import json
from pathlib import Path

import pytest

from orbit_registry.search.index import Index, counts_of
from orbit_registry.search.text import terms

CASES = json.loads((Path(__file__).parents[2] / "cases/search/ranking.json").read_text("utf-8"))
MRR, RECALL = 0.9078, 0.9795
"""Mean reciprocal rank, and the part of the answers among the first five, over all questions."""


@pytest.fixture(scope="module")
def index() -> Index:
    return Index({(key, 0): counts_of(tuple(fields)) for key, fields in CASES["texts"].items()})


def measured(index: Index, pool: int) -> tuple[float, float]:
    """Return mean reciprocal rank and recall among five, of the ranking that looks at so many texts twice."""
    ranks, recalls = [], []
    for question in CASES["questions"]:
        keys = [index.keys[slot][0] for slot, _ in index.ranked(terms(question["query"]), pool, 20)]
        positions = [keys.index(key) + 1 for key in question["relevant"] if key in keys]
        ranks.append(1 / min(positions) if positions else 0.0)
        recalls.append(sum(rank <= 5 for rank in positions) / len(question["relevant"]))
    return sum(ranks) / len(ranks), sum(recalls) / len(recalls)


def test_the_ranking_is_no_worse_than_it_was(index: Index) -> None:
    rank, recall = measured(index, 100)

    assert rank >= MRR, f"MRR {rank:.4f} was {MRR}"
    assert recall >= RECALL, f"recall {recall:.4f} was {RECALL}"


def test_the_second_ranking_is_worth_its_cost(index: Index) -> None:
    assert measured(index, 0) < measured(index, 100)
