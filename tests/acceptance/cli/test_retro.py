"""`orbit retro` with a file or flags."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.files import write

from orbit_registry.registry import Registry
from orbit_registry.retro.failures import Target
from orbit_registry.retro.form import Outcome, Retro
from orbit_registry.retro.keep import record_retro
from orbit_registry.workspace.author import Author

ADA = Author("Ada", "human")
NOW = datetime(2026, 11, 22, 8, tzinfo=UTC)


def files(root: Path) -> dict[str, str]:
    saved = [*(root / ".orbit").glob("[!s]*/*/*"), *(root / ".orbit/state/inbox").glob("*/*/*")]
    return {str(file): file.read_text("utf-8") for file in saved if file.is_file()}


def test_a_retro_does_not_clear_later_failures(shell: Any) -> None:
    workspace = Registry.open().workspace
    shell("fail", "story:S-1", "--reason", "no disk")
    early, late = (
        Retro(Target("loop", "", name), date, outcomes=(Outcome(Target("story", "", "S-1"), "requeued", 2),))
        for name, date in (("L-1", "2020-01-01"), ("L-2", ""))
    )
    now = datetime.now(UTC)
    assert record_retro(workspace, early, ADA, now).cleared == ()
    assert len(record_retro(workspace, late, ADA, now + timedelta(minutes=1)).cleared) == 1


def test_an_old_retro_opens_no_failure(shell: Any) -> None:
    old = Retro(Target("loop", "", "L-1"), "2026-11-14", outcomes=(Outcome(Target("story", "", "S-1"), "failed"),))
    saved = record_retro(Registry.open().workspace, old, ADA, NOW)
    assert (saved.outcome, saved.opened) == ("inserted", ())
    assert "more than 7 days ago" in saved.notes[0]


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ('{"loop": "L 1"}', "not a target"), ('{"loops": "L-1"}', "`loops` is not known"), ("[1]", "of which run"),
        ('{"loop": "a", "session": "b"}', "more than one"), ('{"loop": "a", "outcomes": 3}', "not a list"),
        ('{"loop": "a", "outcomes": [{"target": "S", "result": "failed"}]}', "not a target"),
        ('{"loop": "a", "outcomes": [{"target": "story:S", "result": "broke"}]}', "'broke' is not a result"),
        ('{"loop": "a", "outcomes": [{"target": "story:S", "result": "failed", "attempts": -1}]}', "attempts"),
        ('{"loop": "a", "outcomes": [{"target": "story:S", "result": "failed", "tools": 5}]}', "not a list of names"),
        ('{"loop": "a", "date": "soon", "worked": ["A sentence of some length."]}', "is not a date"),
        ('{"loop": "a", "worked": [1]}', "not a list of texts"), ('{"loop": ', "retro.md"),
        ("---\nloop: a\n---\n# A\n\n## Outcomes\n\nnone\n", "retro.md: Outcomes: 'none' is not an outcome"),
        ('{"loop": "a", "worked": ["The key is ghp_' + "a" * 36 + '"]}', "holds a secret"),
    ],
)  # fmt: skip
def test_an_invalid_retro_is_refused(shell: Any, message: str, words: str) -> None:
    write(shell.root, "retro.md", message)
    before = files(shell.root)
    code, _, err = shell("retro", "--from", "retro.md")
    assert code in (1, 2)
    assert words in err
    assert "Traceback" not in err
    assert files(shell.root) == before
