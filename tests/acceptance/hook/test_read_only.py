"""The hook in a project that can't be written: it shows records, and each once in a session."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.acceptance.hook.conftest import bring_up_to_date, run_client
from tests.acceptance.hook.replies import edit, ids


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the user's cache, behind a link as some have it."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "cache").symlink_to("elsewhere")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_hook_answers_in_a_project_that_is_mounted_read_only(
    small_disk: Path, root: Path, cache: Path
) -> None:
    project = small_disk / "repo"
    shutil.copytree(root, project)
    mount = ["mount", "-o", "remount,ro", str(small_disk)]
    subprocess.run(mount, check=True)

    call = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": str(project)}
    payload = json.dumps({**call, **edit(project)}).encode()
    bring_up_to_date(project)  # the index goes into the cache
    assert len(ids(json.loads(run_client(project, payload)))) == 3
    assert run_client(project, payload) == b""
    assert [path.name for path in cache.rglob("sessions/*")] == ["s"]
