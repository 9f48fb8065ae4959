"""The treemap of coverage: fields in proportion, nothing counted twice, and nothing of it only in colour."""

import re
from html import unescape
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.site.treemap import MOST, Rectangle, coverage_html, folders, squarified

NAMES = st.lists(st.sampled_from(["a", "b", "src", "<i>", "docs"]), min_size=1, max_size=5).map("/".join)
FILES = st.lists(NAMES.map(lambda folder: f"{folder}/x.py"), min_size=1, max_size=60)


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=40), st.floats(1, 900), st.floats(1, 900))
def test_places_fill_their_rectangle_in_proportion(sizes: list[int], width: float, height: float) -> None:
    sizes.sort(reverse=True)
    rectangles = squarified(sizes, (10.0, 20.0, width, height))
    share = width * height / sum(sizes)
    for size, rectangle in zip(sizes, rectangles, strict=True):
        assert rectangle[2] * rectangle[3] == pytest.approx(size * share, rel=1e-6)
        assert overlap(rectangle, (10.0, 20.0, width, height)) == pytest.approx(size * share, rel=1e-6)
    for number, rectangle in enumerate(rectangles):
        assert all(overlap(rectangle, other) < 1e-6 * width * height for other in rectangles[:number])


def overlap(first: Rectangle, second: Rectangle) -> float:
    across = min(first[0] + first[2], second[0] + second[2]) - max(first[0], second[0])
    down = min(first[1] + first[3], second[1] + second[3]) - max(first[1], second[1])
    return max(across, 0.0) * max(down, 0.0)


@given(FILES)
def test_every_file_is_in_one_field(files: list[str]) -> None:
    html = coverage_html(folders(files, [["src/**"]]), "health/")
    drawing, for_a_phone = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    assert re.findall("<title>.*?</title>", drawing) == re.findall("<title>.*?</title>", for_a_phone)
    titles = [cell.text or "" for cell in ElementTree.fromstring(drawing).iter("title")]
    numbers = [re.search(r": ([\d,]+) of ([\d,]+) files", cell) for cell in titles]
    assert sum(int(cell[2]) for cell in numbers if cell) == len(files)
    assert len(titles) <= MOST
    rows = re.findall(r"<code>(.*?)</code></a></td><td>(\d+)</td>", html)
    assert sorted(f"{unescape(name)} {count}" for name, count in rows) == sorted(
        f"{cell.partition(':')[0]} {number[2]}" for cell, number in zip(titles, numbers, strict=True) if number
    )


def test_an_excluded_file_is_not_covered() -> None:
    files = [f"src/{number}.py" for number in range(2)] + [f"docs/{number}.md" for number in range(18)]
    root = folders(files, [["src/**", "!src/1.py"]])
    assert (root.files, root.covered) == (20, 1)
    assert (root.inner["src"].files, root.inner["src"].covered) == (2, 1)
    assert root.inner["docs"].covered == 0


def test_without_files_there_is_no_drawing() -> None:
    assert coverage_html(folders([], []), "health/") == ""
