"""`orbit retro` with a file and flags at once: which run both are of."""

from __future__ import annotations

from typing import Any

import pytest

TOLD = "---\nloop: L-17\n{project}---\n# A loop\n\n## What worked\n\n- Reading the fixture first saved a round\n"


@pytest.mark.parametrize(
    ("project", "flags", "key"),
    [
        ("shop", ["--loop", "L-17"], "loop:shop:L-17"), ("shop", ["--project", "shop"], "loop:shop:L-17"),
        ("", ["--project", "shop"], "loop:shop:L-17"), ("", ["--loop", "L-17", "--project", "shop"], "loop:shop:L-17"),
        ("shop", ["--loop", "L-18"], ""), ("shop", ["--project", "site"], ""), ("shop", ["--session", "L-17"], ""),
    ],
)  # fmt: skip
def test_flags_and_a_file_are_of_one_run(shell: Any, project: str, flags: list[str], key: str) -> None:
    """What one of them leaves open the other says; what contradicts is refused."""
    file = shell.root / "retro.md"
    file.write_text(TOLD.format(project=f"project: {project}\n" if project else ""), "utf-8")
    code, whole = shell.json("retro", "--from", str(file), *flags)
    assert code == (0 if key else 2)
    assert (whole["data"]["retro"]["key"] if whole["ok"] else "") == key
