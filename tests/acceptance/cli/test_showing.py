"""`show` and `sync` say all there is to say of one record, and of one sync."""

from typing import Any

import pytest


def test_the_facade_takes_paths_from_the_root(shell: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    from orbit_registry.errors import UsageError
    from orbit_registry.registry import Registry

    registry = Registry.open(shell.root)
    monkeypatch.chdir(tmp_path)
    assert [entry.as_data()["id"] for entry in registry.match(["src/app.py", "./src//x.py"])] == ["ADR-0001"]
    assert [entry.as_data()["id"] for entry in registry.explain("src/app.py")] == ["ADR-0001"]
    for path in ("/src/app.py", "../src/app.py", "src/../../x"):
        with pytest.raises(UsageError):
            registry.match([path])

    monkeypatch.chdir(shell.root / "src")
    for command in (["match"], ["explain"]):
        assert "ADR-0001" in shell(*command, "app.py")[1]
        assert shell(*command, "../../app.py")[0] == 2
    assert shell("check", "../src/")[0] == 0
    assert shell("check", "../..")[0] == 2
