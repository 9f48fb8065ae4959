"""Pages of a manual are no decisions, though they state a status: an import of the whole project leaves them alone."""

import pytest

from orbit_registry.registry import Registry

MANUAL = {
    "setup": "---\ntitle: Setup\nstatus: published\n---\n# Setup\n\n## Install\n\nA.\n",
    "tour": "---\nstatus: draft\n---\n# Tour\n\n## Background\n\nA.\n\n## First steps\n\nB.\n",
    "parts": "# Parts\n\nStatus: accepted\n\n## Engine\n\nA.\n",
    "choice": "---\nstatus: accepted\n---\n# Use one engine\n\n## Considered options\n\nTwo.\n",
}


@pytest.mark.parametrize("path", [".", "docs/guides"])
def test_a_status_makes_no_decision_of_a_guide(registry: Registry, path: str) -> None:
    folder = registry.workspace.root / "docs/guides"
    folder.mkdir(parents=True)
    for name, text in MANUAL.items():
        (folder / f"{name}.md").write_text(text)
    report = Registry.import_from(registry.workspace.root / path, dry_run=True)
    remaining = {outcome.source: outcome.reason for outcome in report.of("left")}
    reason_start = "a status, as pages of a manual have one, but nothing that it decides; if it is a decision, "
    assert {name for name, reason in remaining.items() if reason.startswith(reason_start)} == {
        f"docs/guides/{name}.md" for name in ("setup", "tour", "parts")
    }
    assert not any("read like decisions" in note for note in report.notes)
    adopted = [outcome.source for outcome in report.of("taken")]
    assert adopted == (["docs/guides/choice.md"] if path != "." else [])


def test_a_number_alone_is_a_decision_for_whoever_names_it(registry: Registry) -> None:
    file = registry.workspace.root / "text/0007-use-x.md"
    file.parent.mkdir(parents=True)
    file.write_text("# Use X\n\nWe use it.\n\n## Limits\n\nNone.\n")
    report = Registry.import_from(registry.workspace.root)
    assert report.records == ()
    assert [outcome.reason.partition(";")[0] for outcome in report.of("left")] == [
        "a number or a date in its name, but no status and no section that holds a decision"
    ]
    assert Registry.import_from(file).records == ("ADR-0007",)


def test_dated_decisions_beside_numbered_ones_are_taken(registry: Registry) -> None:
    root = registry.workspace.root
    decided = "* State: Ready for Review\n\n## Background\n\nA.\n\n## Proposal\n\nB.\n"
    (root / "0012-use-x.md").write_text(f"# Use X\n\n{decided}")
    (root / "20260401-R-use-y.md").write_text(f"# Use Y\n\n{decided}")
    (root / "20260402-minutes.md").write_text("# Minutes\n\nAda, Bob.\n\n## Topics\n\nLunch.\n")
    (root / "talks").mkdir()
    (root / "talks/20260401-use-z.md").write_text(f"# Use Z\n\n{decided}")
    report = Registry.import_from(root)
    assert [outcome.source for outcome in report.of("taken")] == ["0012-use-x.md", "20260401-R-use-y.md"]
    assert {outcome.source for outcome in report.of("left")} == {"20260402-minutes.md", "talks/20260401-use-z.md"}
    registry.refresh()
    assert {record.status.name for record in registry.records.of_kind("adr")} == {"proposed"}


GUIDES = {
    "018-client": "# Client guide\n\n## Overview\n\nA.\n\n## Challenges\n\n**Problem**: B.\n\n**Solution**: C.\n\n"
    "**Problem**: D.\n\n**Solution**: E.\n",
    "024-system": "# Command system\n\n## Overview\n\nA.\n\n## Benefits\n\nB.\n\n### Decision\n\nC.\n",
    "031-store": "# Use one store\n\n## Overview\n\nA.\n\n## Decision\n\nB.\n",
    "032-queue": "# Use a queue\n\n## Motivation\n\nA.\n\n## Drawbacks\n\nB.\n\n## Alternatives\n\nC.\n",
}


def test_a_numbered_guides_sections_make_no_decision(registry: Registry) -> None:
    root = registry.workspace.root
    (root / "docs/manual").mkdir(parents=True)
    for name, text in GUIDES.items():
        (root / f"docs/manual/{name}.md").write_text(text)
    assert [outcome.source for outcome in Registry.import_from(root, dry_run=True).of("taken")] == [
        "docs/manual/031-store.md",
        "docs/manual/032-queue.md",
    ]
    assert Registry.import_from(root / "docs/manual/018-client.md").records == ("ADR-0018",)


@pytest.mark.parametrize("path", ["LESSONS.md", "docs/postmortems/2024-outage.md", "docs/deploy-runbook.md"])
def test_lessons_and_postmortems_are_told_where_they_belong(registry: Registry, path: str) -> None:
    file = registry.workspace.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("# Responses were lost\n\n## Timeline\n\nA.\n")
    for position in (registry.workspace.root, file.parent):
        report = Registry.import_from(position, dry_run=True)
        assert any(f"{path}: lessons" in note and f"`orbit import doc {path}`" in note for note in report.notes)
    file.rename(registry.workspace.root / "lessons-1-intro.md")
    assert not any("postmortems" in note for note in Registry.import_from(registry.workspace.root).notes)


@pytest.mark.parametrize(
    "folder", [".agents/skills/audit", ".claude/commands", ".github/prompts", ".agent_instructions"]
)
def test_what_instructs_agents_is_not_recommended_as_decisions(registry: Registry, folder: str) -> None:
    root = registry.workspace.root
    text = "# Audit\n\n## Context\n\nA.\n\n## Decision\n\nB.\n"
    for path in (*(f"{folder}/{name}.md" for name in "abc"), ".claude/decisions/0007-use-x.md"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    report = Registry.import_from(root, dry_run=True)
    assert [outcome.source for outcome in report.of("taken")] == [".claude/decisions/0007-use-x.md"]
    assert {outcome.reason for outcome in report.of("left")} == {"an agent's memory or rules"}
    assert not any("read like decisions" in note for note in report.notes)
