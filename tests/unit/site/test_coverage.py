"""Coverage: every file is counted in one row, with and without a record."""

import re

from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.site.health import MOST, coverage_html, folders

NAMES = st.lists(st.sampled_from(["a", "b", "src", "<i>", "docs"]), max_size=5)
FILES = st.lists(NAMES.map(lambda names: "/".join([*names, "x.py"])), min_size=1, max_size=60)


@given(FILES)
def test_every_file_is_in_one_row(files: list[str]) -> None:
    html = coverage_html(folders(files, [["src/**"]]))
    numbers = re.findall(r"<td[^>]*>([\d,]+) of ([\d,]+)</td>", html)
    assert sum(int(total) for _, total in numbers) == len(files)
    assert sum(int(covered) for covered, _ in numbers) == sum(
        file.startswith("src/") for file in files
    )
    assert len(numbers) <= MOST + 1
    assert "<i>" not in html


def test_an_excluded_file_is_not_covered() -> None:
    files = ["src/0.py", "src/1.py", "docs/a/b/c.md", "docs/a/d.md", "e.md"]
    assert folders(files, [["src/**", "!src/1.py"]]) == {
        "src/": (2, 1),
        "docs/a/": (2, 0),
        "": (1, 0),
    }


def test_a_bar_is_as_long_as_its_folder() -> None:
    html = coverage_html(folders(["a/x", "a/y", "a/z", "a/w", "b/x", "b/y"], [["b/x"]]))
    assert re.findall(r'class="orbit-(\w+)" width="(\S+)%"', html) == [
        ("rest", "100"),
        ("rest", "50"),
        ("part", "25"),
    ]


def test_the_root_is_a_dot_that_leads_to_all_files() -> None:
    assert '<a href="../paths/"><code>.</code></a>' in coverage_html(
        folders(["x.md", "src/a.py"], [["src/**"]])
    )
