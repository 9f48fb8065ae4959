"""The architecture page: its picture is drawn from the imports,
and the functions it names exist.
"""

import importlib
import os
import re
import tomllib
from html import escape
from pathlib import Path

import grimp

from orbit_registry.seams import SHIPPED

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/contributing/architecture.md"
PICTURE = ROOT / "docs/images/architecture.svg"
TOOLING = ROOT / "tooling"
PACKAGE = TOOLING / "orbit_registry"
UPDATE = bool(os.environ.get("ORBIT_UPDATE_GOLDEN"))  # read here: tests see no such variable
WIDTH, HEIGHT, GAP, MARGIN = 150, 40, 14, 20


def layers() -> list[list[str]]:
    """Return the rooms by layer, from the doors down, as the import contract lists them."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contract = next(c for c in data["tool"]["importlinter"]["contracts"] if c["id"] == "layers")
    return [[name.strip() for name in layer.split("|")] for layer in contract["layers"]]


def imports() -> dict[str, set[str]]:
    """Return the rooms that each room, and each extra, imports."""
    graph = grimp.build_graph("orbit_registry", *SHIPPED)
    result: dict[str, set[str]] = {}
    for module in graph.modules:
        room = room_of(module)
        for target in graph.find_modules_directly_imported_by(module):
            other = room_of(target)
            if room and other and room != other and room != "__main__":
                result.setdefault(room, set()).add(other)
    return result


def room_of(module: str) -> str:
    """Return the room of a module of the core, or the extra that it is of; empty for neither."""
    package, *parts = module.split(".")
    if package in SHIPPED:
        return package
    return parts[0] if parts else ""


def rows(edges: dict[str, set[str]], rooms: list[str]) -> list[list[str]]:
    """Return the rooms in rows: each room one row above the highest room it imports."""
    height: dict[str, int] = {}

    def level(room: str) -> int:
        if room not in height:
            height[room] = 1 + max((level(other) for other in edges.get(room, ())), default=-1)
        return height[room]

    for room in rooms:
        level(room)
    return [
        [room for room in rooms if height[room] == at] for at in range(max(height.values()), -1, -1)
    ]


def direct(edges: dict[str, set[str]]) -> list[tuple[str, str]]:
    def below(room: str) -> set[str]:
        return set().union(*({other} | below(other) for other in edges.get(room, ())))

    return sorted(
        (room, other)
        for room, others in edges.items()
        for other in others
        if not any(other in below(third) for third in others if third != other)
    )


def lines_of(room: str) -> int:
    if room in SHIPPED:
        extra = (TOOLING / room).rglob("*.py")
        return sum(file.read_text("utf-8").count("\n") for file in extra)

    files = (
        [PACKAGE / f"{room}.py"]
        if (PACKAGE / f"{room}.py").exists()
        else (PACKAGE / room).rglob("*.py")
    )
    return sum(file.read_text("utf-8").count("\n") for file in files)


def drawing() -> str:
    """Return the picture: a box for each room, a line for each import that others do not imply;
    the extras stand at the right.
    """
    rooms = [room for layer in layers() for room in layer]
    edges = imports()
    grid = rows(edges, rooms)
    core = max(map(len, grid)) * (WIDTH + GAP) - GAP + 2 * MARGIN
    widest = core + WIDTH + 2 * MARGIN
    position: dict[str, tuple[int, int]] = {}
    for at, row in enumerate(grid):
        margin = (core - (len(row) * (WIDTH + GAP) - GAP)) // 2
        for index, room in enumerate(row):
            position[room] = (margin + index * (WIDTH + GAP), MARGIN + at * (HEIGHT + 28))
    tall = MARGIN + len(grid) * (HEIGHT + 28)
    apart = (tall - 2 * MARGIN) // len(SHIPPED)
    for at, extra in enumerate(SHIPPED):
        position[extra] = (core + MARGIN, MARGIN + at * apart + (apart - HEIGHT) // 2)

    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {widest} {tall}" '
            f'font-family="sans-serif"'
        ),
        ' font-size="14">',
        "<title>The rooms of orbit_registry, each imports only rooms below it; at the right the "
        "extras, which import rooms and which no room imports</title>",
        f'<rect width="{widest}" height="{tall}" fill="#ffffff"/>',
        f'<path d="M{core} {MARGIN}V{tall - MARGIN}" stroke="#52606d" stroke-dasharray="6 6"/>',
    ]
    for room, other in direct(edges):
        (x, y), (to_x, to_y) = position[room], position[other]
        start, end, colour = (
            f"{x + WIDTH // 2} {y + HEIGHT}",
            f"{to_x + WIDTH // 2} {to_y}",
            "9aa5b1",
        )
        if room in SHIPPED:
            start, end = f"{x} {y + HEIGHT // 2}", f"{to_x + WIDTH} {to_y + HEIGHT // 2}"
            colour = "d9e2ec"

        parts.append(f'<path d="M{start}L{end}" stroke="#{colour}" fill="none"/>')
    for room, (x, y) in position.items():
        size = round(lines_of(room) / 1000, 1)
        parts.append(
            f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="6" fill="#eef2f7" '
            f'stroke="#52606d"/>'
            f'<text x="{x + WIDTH // 2}" y="{y + 18}" text-anchor="middle" '
            f'fill="#1f2933">{escape(room)}</text>'
            f'<text x="{x + WIDTH // 2}" y="{y + 33}" text-anchor="middle" fill="#52606d"'
            f' font-size="11">{size} k lines</text>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def test_picture_is_drawn_from_the_imports() -> None:
    if UPDATE:
        PICTURE.write_text(drawing(), "utf-8")
    sizes = re.compile(r">[\d.]+ k lines<")
    assert sizes.sub("", PICTURE.read_text("utf-8")) == sizes.sub("", drawing())


def test_each_room_is_described() -> None:
    described = re.findall(r"^\| `([a-z_]+)` \|", PAGE.read_text("utf-8"), re.M)
    rooms = [room for layer in layers() for room in layer]
    assert sorted(described) == sorted([*rooms, *SHIPPED])


def test_a_stranger_meets_at_most_sixteen_rooms() -> None:
    """More are a sign that a subject stands in two places."""
    folders = {path.parent for path in PACKAGE.glob("*/__init__.py")}
    assert len(folders) <= 16


def test_each_function_of_the_flows_exists() -> None:
    rooms = "|".join(room for layer in layers() for room in layer)
    for dotted in re.findall(rf"`((?:{rooms})(?:\.\w+)+)(?:\([^`]*\))?`", PAGE.read_text("utf-8")):
        assert resolve(f"orbit_registry.{dotted}") is not None


def resolve(dotted: str) -> object:
    try:
        return importlib.import_module(dotted)
    except ModuleNotFoundError:
        holder, _, name = dotted.rpartition(".")
        return getattr(resolve(holder), name)
