"""What a publication leaves out: entries that name a withheld record, and secrets."""

from pathlib import Path

import pytest
from tests.files import make_workspace, write_learning

from orbit_registry.registry import Registry
from orbit_registry.snapshot.publication import Publication, publication_of

TOKENS = ("ghp_" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAbCdE", "AKIA" + "Q7RZ5T3MWK2NV8HB")
INTERNAL = "site: {publish: {tags: ['!internal']}}\n"


def publication(root: Path) -> Publication:
    registry = Registry.open(root)
    return publication_of(registry.workspace, registry.collection)


def test_each_entry_that_names_a_withheld_record_goes(tmp_path: Path) -> None:
    make_workspace(tmp_path, INTERNAL)
    for number in (1, 2):
        write_learning(tmp_path, number, labels=["internal"])
    write_learning(tmp_path, 3)
    names = ("L-00001", "L-00002", "L-00003")
    evidence = [{"kind": "record", "reference": name} for name in names]
    links = [{"rel": "related_to", "to": name} for name in names]
    more = [{"kind": "external", "reference": "says L-00002"}]
    write_learning(tmp_path, 4, evidence=[*evidence, *more], links=links, distinct_from=[*names])

    records = publication(tmp_path).records(Registry.open(tmp_path).collection.records)
    by_id = {record.id: record for record in records}

    assert sorted(by_id) == ["L-00003", "L-00004"]
    published = by_id["L-00004"]
    assert published.evidence == (("record", "L-00003"),)
    assert [link.to for link in published.links] == ["L-00003"]
    assert published.words("distinct_from") == ("L-00003",)


@pytest.mark.parametrize("settings", ["", INTERNAL], ids=["all", "some"])
def test_no_published_text_has_a_secret(settings: str, tmp_path: Path) -> None:
    make_workspace(tmp_path, settings)
    text = f"First {TOKENS[0]}, then {TOKENS[1]}, and {TOKENS[0]} again."
    published = publication(tmp_path).text(text)
    document = publication(tmp_path).document("docs/a.md", text)

    for result in (published, document or ""):
        assert result.startswith("First [redacted: GitHub token], then [redacted: AWS access key]")
        assert not any(token in result for token in TOKENS)
