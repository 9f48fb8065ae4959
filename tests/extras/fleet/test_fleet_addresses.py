"""Addresses of lakes: no message shows a user's password, and none ends in a traceback."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.files import make_workspace

from orbit_registry.doors.cli.main import run

ADDRESSES: list[Any] = yaml.safe_load(
    (Path(__file__).parents[2] / "cases/fleet_addresses.yaml").read_text("utf-8")
)["addresses"]
PASSWORD = "hk39Xq" + "71vZ"


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_shows_no_password_and_gets_an_answer(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("fsspec", reason="needs the extra fleet")
    monkeypatch.chdir(make_workspace(tmp_path))
    code = run(["fleet", "query", "FROM repositories", "--lake", address.replace("{P}", PASSWORD)])
    captured = capfd.readouterr()

    assert code in (1, 2)
    assert captured.err.startswith("error: ")
    assert PASSWORD not in captured.out + captured.err
    assert "Traceback" not in captured.err
