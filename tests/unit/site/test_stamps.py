"""Stamps of files are trusted only where no edit can have slipped in while they were read."""

import os
import time
from pathlib import Path

import pytest

from orbit_registry.site.stamps import stamp_of, stamps_of

HOUR = 3600


@pytest.mark.parametrize(
    ("seconds", "is_trusted"), [(-HOUR, True), (1, False), (30, False), (HOUR, True)]
)
def test_a_file_of_now_may_be_another_by_now(
    tmp_path: Path, seconds: int, is_trusted: bool
) -> None:
    file, began = tmp_path / "a", time.time_ns()
    file.write_text("a", "utf-8")
    os.utime(file, ns=(began, began + seconds * 10**9))
    stamps = stamps_of([str(file), str(tmp_path / "none")], [], began)
    assert (stamps is not None) == is_trusted
    if stamps is not None:
        assert stamps[str(file)] == stamp_of(str(file))
        file.write_text("b", "utf-8")
        assert stamps[str(file)] != stamp_of(str(file))
