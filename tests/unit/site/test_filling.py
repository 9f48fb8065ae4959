"""Templates of pages: where their compiled form is, and whose is not there."""

from pathlib import Path

import pytest

from orbit_registry.site.filling import environment, prepare_html


@pytest.fixture(autouse=True)
def _anew() -> None:
    environment.cache_clear()


def test_our_templates_are_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    environment(".html", prepare_html)
    files = list((tmp_path / "orbit-registry/templates").iterdir())
    assert files
    before = {file: file.stat().st_mtime_ns for file in files}

    environment.cache_clear()
    environment(".html", prepare_html)
    assert {file: file.stat().st_mtime_ns for file in files} == before


def test_a_cache_that_cannot_be_written_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    template = environment(".html", prepare_html).get_template("record.html")
    assert template.name == "record.html"


def test_what_a_repository_runs_in_its_sandbox_is_compiled_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    environment(".html", prepare_html, is_sandboxed=True).get_template("record.html")
    assert not list(tmp_path.rglob("*/templates/*"))
