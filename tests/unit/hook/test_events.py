"""What a verdict or a failure writes to the event log."""

from pathlib import Path

from orbit_registry.hook.events import FAILED
from orbit_registry.registry import Registry
from orbit_registry.workspace.event_log import write_event


def test_no_secret_reaches_the_event_log(git_repo: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    Registry.init(git_repo)
    details = {"target": f"task:{secret}", "asked": [f"see {secret}"], "attempts": 3}

    write_event(Registry.open(git_repo).workspace, FAILED, ["FLR-1"], details)

    log = (git_repo / ".orbit/state/log/events.jsonl").read_text("utf-8")
    assert secret not in log
    assert '"target": "task:[redacted: GitHub token]"' in log
    assert '"attempts": 3' in log
