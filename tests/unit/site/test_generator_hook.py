"""The theme's templates are compiled once for all runs of the generator."""

from pathlib import Path

import pytest
from jinja2 import DictLoader, Environment

from orbit_registry.site.generator_hook import on_env


def test_a_later_run_compiles_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _page(tmp_path) == "<p>a</p>"
    assert [file.name.startswith("mkdocs-1-") for file in tmp_path.iterdir()] == [True]

    monkeypatch.setattr(Environment, "compile", None)
    assert _page(tmp_path) == "<p>a</p>"


def _page(folder: Path) -> str:
    environment = Environment(loader=DictLoader({"page": "<p>{{ text }}</p>"}), autoescape=True)
    config = {"extra": {"orbit_compiled": [str(folder), "mkdocs-1-%s"]}}
    on_env(environment, config=config, files=())
    template = environment.get_template("page")
    return template.render(text="a")
