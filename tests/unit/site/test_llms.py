"""Lists of pages for agents."""

import re

import pytest

from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record
from orbit_registry.site.llms import LARGEST, Section, lists, record_entry
from orbit_registry.site.record_page import article_data
from orbit_registry.site.twins import Twin


def test_a_large_site_has_lists_that_each_fit_and_name_every_page_once() -> None:
    decisions = [
        Twin(f"adrs/ADR-{n:04}/index.md", f"ADR-{n:04} Title", "Because. " * 30)
        for n in range(1000)
    ]
    pages = [Twin(f"guide/{n}/index.md", f"Guide {n}", "What to do.") for n in range(20)]
    sections = [Section("Guides", "llms/guides/", pages), Section("Decisions", "adrs/", decisions)]
    files = dict(lists("Demo", "What it is.", sections, "https://example.org/"))
    links = [link for text in files.values() for link in re.findall(r"\]\((https:[^)]*)\)", text)]
    inner = [f"https://example.org/{path}" for path in files if path != "llms.txt"]
    assert all(len(text.encode()) <= LARGEST for text in files.values())
    assert sorted(links) == sorted(
        [*inner, *(f"https://example.org/{twin.path}" for twin in [*decisions, *pages])]
    )
    assert all(path.startswith("adrs/") for path in files if path != "llms.txt")


@pytest.mark.parametrize(
    ("groups", "names"),
    [
        (("2024", "2025", "2026"), ["2026", "2025 to 2026", "2024 to 2025"]),
        (("auth", "billing"), ["billing", "billing, continued", "billing, auth"]),
        (tuple(f"20{year}" for year in range(10, 26)), ["2023 to 2025", "2020 to 2022"]),
        (("",), ["ADR-0000 Title to ADR-0190 Title"]),
    ],
)
def test_a_part_of_a_long_list_is_named_by_its_years_or_tags(
    groups: tuple[str, ...], names: list[str]
) -> None:
    decisions = [
        Twin(
            f"adrs/{n}/index.md",
            f"ADR-{n:04} Title",
            "Because. " * 30,
            group=groups[n % len(groups)],
            sentence=f"We do {n}.",
        )
        for n in range(800)
    ]
    files = dict(lists("Demo", "What it is.", [Section("Decisions", "adrs/", decisions)], None))
    line = re.compile(r"^- \[Decisions: ([^\]]*)\]\S+ (\d+) pages\. We do ", re.MULTILINE)
    parts = line.findall(files["llms.txt"])
    assert len(parts) == len(files) - 1
    assert [name for name, _ in parts][: len(names)] == names
    assert sum(int(count) for _, count in parts) == 800


def test_titles_are_text_in_a_list() -> None:
    twin = Twin("a/index.md", "a](https://evil.example) <b>", "[c](d)\n# e")
    text = dict(lists("# <i>", "x\n\n# y", [Section("Pages", "llms/", [twin])], None))["llms.txt"]
    assert text == (
        "# # \\<i>\n\n> x # y\n\n## Pages\n\n- [a\\](https://evil.example) \\<b>](a/index.md): "
        "\\[c\\](d) # e\n"
    )


def test_a_description_that_is_the_title_is_left_out() -> None:
    data = {"id": "L-7k3fq", "status": "active", "summary": "Run `orbit check` first"}
    record = Record(load_kinds()["learning"], data, ".orbit/learnings/L-7k3fq/learning.yaml")
    entry = record_entry(
        record, Twin("learnings/L-7k3fq/index.md", record.title, "Run orbit check first")
    )
    assert entry.description == "active"


def test_no_title_ends_the_element_of_json_ld() -> None:
    html = article_data("</script><script>alert(1)</script>", "<!--<script>", {}, None)
    assert html.count("<") == 2
    assert html.endswith("</script>")
