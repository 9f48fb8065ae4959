"""The size of the package: no room has more lines than its ceiling, so that growth is a decision."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "tooling/orbit_registry"
TABLE = Path(__file__).with_name("room-sizes.toml")


def sizes() -> dict[str, int]:
    """Return the lines of Python of each room; the modules outside of rooms are one."""
    lines: dict[str, int] = {}
    for file in PACKAGE.rglob("*.py"):
        first, *below = file.relative_to(PACKAGE).parts
        room = first if below else "orbit_registry"
        lines[room] = lines.get(room, 0) + file.read_text("utf-8").count("\n")
    return lines


def test_a_room_is_below_its_ceiling() -> None:
    ceilings: dict[str, int] = tomllib.loads(TABLE.read_text("utf-8"))
    lines = sizes()
    assert sorted(lines) == sorted(ceilings)
    too_large = [
        f"{room} has {lines[room]:,} lines and a ceiling of {ceilings[room]:,}: see {TABLE.name}"
        for room in sorted(lines)
        if lines[room] > ceilings[room]
    ]
    assert too_large == []
