"""Compiled templates: kept where Python keeps modules, used where name and text are the same, never believed else."""

from __future__ import annotations

import sys
from pathlib import Path

import jinja2
import pytest

from orbit_registry.site import compiled
from orbit_registry.site.compiled import Compiled, Shallow


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what these tests compile away from the package."""
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "kept"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


def folder() -> Path:
    """Make the folder where Python would keep the module itself, as importing it does; return it."""
    made = Path(compiled.cache_from_source(compiled.__file__)).parent
    made.mkdir(parents=True, exist_ok=True)
    return made


def rendered(texts: dict[str, str], kept: Compiled) -> str:
    """Render the template `a`."""
    return jinja2.Environment(loader=jinja2.DictLoader(texts), bytecode_cache=kept).get_template("a").render()


def test_what_one_process_compiled_the_next_one_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A template that was kept is not parsed again; another text under its name is."""
    folder()
    first = Compiled("t")
    assert rendered({"a": "{{ 1 + 1 }}"}, first) == "2"
    first.save()
    monkeypatch.setattr(jinja2.Environment, "_parse", lambda *given: pytest.fail("it was parsed"))
    assert rendered({"a": "{{ 1 + 1 }}"}, Compiled("t")) == "2"
    monkeypatch.undo()
    assert rendered({"a": "{{ 1 + 2 }}"}, Compiled("t")) == "3"


@pytest.mark.parametrize("damage", [b"", b"\xff\xff", b"(", b"[\x00\x00\x00\x00"])
def test_what_is_damaged_is_as_good_as_none(damage: bytes) -> None:
    """A file that no build left whole is made anew."""
    file = folder() / "templates-t.pyc"
    file.write_bytes(damage)
    kept = Compiled("t")
    assert rendered({"a": "x"}, kept) == "x"
    kept.save()
    assert file.stat().st_size > 20
    assert [one.name for one in folder().iterdir()] == [file.name]


def test_a_folder_that_can_not_be_written_is_let_be() -> None:
    """Where Python keeps nothing, nothing is kept, and all is rendered."""
    kept = Compiled("t")
    assert rendered({"a": "x"}, kept) == "x"
    kept.save()
    assert not Path(compiled.cache_from_source(compiled.__file__)).parent.exists()


def test_folders_that_begin_with_a_dot_are_searched_and_not_listed(tmp_path: Path) -> None:
    """An icon is found by its name, though nobody is told of it."""
    for name in ("base.html", "part/x.html", ".icons/a.svg", "part/.icons/b.svg"):
        (tmp_path / "t" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "t" / name).write_text(name, "utf-8")
    loader = Shallow(tmp_path / "t")
    assert loader.list_templates() == ["base.html", "part/x.html"]
    assert jinja2.Environment(loader=loader).get_template(".icons/a.svg").render() == ".icons/a.svg"
