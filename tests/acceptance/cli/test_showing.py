"""`show` and `sync` say all there is to say of one record, and of one sync."""

from typing import Any

import pytest


@pytest.mark.parametrize("command", [["show"], ["learning", "show"]])
def test_a_record_that_may_no_longer_hold_says_why(shell: Any, command: list[str]) -> None:
    added = shell.json(
        "learning", "add", "--summary", "Mind the app", "--path", "lib/**", "--fingerprint", "src/app.py"
    )
    record_id = added[1]["data"]["id"]
    (shell.root / "src/app.py").write_text("x = 2\n", "utf-8")

    data = shell.json(*command, record_id)[1]
    assert data["data"]["freshness_state"] == "stale"
    assert [entry["cause"] for entry in data["data"]["freshness_reasons"]] == ["fingerprint", "anchor"]
    assert f"orbit learning retire {record_id}" in data["next"]
    output = shell(*command, record_id)[1].splitlines()
    at = output.index("  stale         `src/app.py` has changed")
    assert output[at + 1] == "                its scope matches no tracked file any more"


@pytest.mark.parametrize(
    ("status", "closing"), [("accepted", "retire {}"), ("proposed", "reject {} --reason WHY"), ("unknown", "retire {}")]
)
def test_a_decision_with_a_dead_glob_gets_a_new_one_or_is_closed(shell: Any, status: str, closing: str) -> None:
    record = shell.root / ".orbit/adrs/ADR-0001/adr.yaml"
    text = record.read_text("utf-8").replace("status: accepted", f"status: {status}").replace("src/**", "gone/**")
    record.write_text(text, "utf-8")

    update = "orbit adr update ADR-0001 --path GLOB --remove-path 'gone/**'"
    assert shell.data("stale")[0]["do"] == [update, f"orbit adr {closing.format('ADR-0001')}"]


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
