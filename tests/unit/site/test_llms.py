"""Lists of pages for agents."""

import re

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
