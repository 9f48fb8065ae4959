"""Where a user's own files are, whatever the environment says of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from orbit_registry.workspace.workspace import user_cache, user_home

NOWHERE = Path("/nonexistent")


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({"HOME": "/home/ada"}, Path("/home/ada")),
        ({"HOME": "home/ada"}, NOWHERE),
    ],
)
def test_a_home_is_a_whole_path(environment: dict[str, str], wanted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative one would be a folder of whatever project the command runs in."""
    monkeypatch.setenv("HOME", environment["HOME"])
    monkeypatch.setenv("XDG_CACHE_HOME", "also/relative")

    assert (user_home(), user_cache()) == (wanted, wanted / ".cache/orbit-registry")


@pytest.mark.skipif(os.getuid() != 0, reason="only root may become another user")
def test_a_user_whom_nobody_knows_has_no_home(tmp_path: Path) -> None:
    """As in a container with a made-up user id: commands go on, and keep nothing in a home."""
    script = (
        "import os, tempfile; from pathlib import Path; from orbit_registry.errors import WorkspaceNotFoundError\n"
        "from orbit_registry.workspace.workspace import checkout_cache, user_home\n"
        "from orbit_registry.workspace.workspace import find_workspace\n"
        "os.setuid(54321)\n"
        "try: find_workspace(Path('/tmp'))\n"
        "except WorkspaceNotFoundError: print(user_home(), checkout_cache(Path('/')) is not None)"
    )
    environment = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME")}
    tmp_path.chmod(0o777)

    said = subprocess.run(
        [sys.executable, "-c", script], env={**environment, "TMPDIR": str(tmp_path)}, capture_output=True, text=True
    )

    assert (said.stdout, said.stderr) == (f"{NOWHERE} True\n", "")
