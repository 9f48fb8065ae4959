"""The site's addresses: relative names lead back, earlier names become safe folders."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from orbit_registry.errors import UsageError
from orbit_registry.site.check import resolved
from orbit_registry.site.urls import document_url, legacy_url, relative, safe_segment, site_address

segments = st.text(
    alphabet=st.characters(exclude_characters="/\x00#?", exclude_categories=["Cs"]),
    min_size=1,
    max_size=6,
)
plain = segments.filter(lambda name: name not in (".", ".."))
pages = st.lists(plain, max_size=4).map(lambda parts: "".join(f"{part}/" for part in parts))


@given(pages, pages)
@example("", "..0/")
def test_a_relative_address_leads_to_its_target(origin: str, target: str) -> None:
    if origin == target:
        return
    assert resolved(origin, relative(origin, target)) == target


def test_a_fragment_of_the_same_page_names_no_path() -> None:
    assert relative("adrs/ADR-0001/", "adrs/ADR-0001/#s-cost") == "#s-cost"


@given(st.text(st.characters(), min_size=1, max_size=300))
@example("half \ud800")
@example("\udfff" * 200)
def test_an_earlier_name_stays_below_its_folder(name: str) -> None:
    parts = legacy_url(name).split("/")[1:-1]
    assert all(
        part and not part.startswith(".") and part != "index.html" and len(part) <= 100
        for part in parts
    )
    assert all(part.isascii() and not set(part) & set('<>"&#?% ') for part in parts)


@given(st.text(max_size=30), st.text(max_size=30))
def test_two_names_never_share_a_folder(first: str, second: str) -> None:
    for name in (first, second):
        try:
            name.encode()
        except UnicodeEncodeError:
            return
    assert (safe_segment(first) == safe_segment(second)) == (first == second)


@pytest.mark.parametrize(
    ("path", "docs", "url"),
    [
        ("docs/design/core/4_decisions.md", "docs", "design/core/4_decisions/"),
        ("docs/design/README.md", "docs", "design/"),
        ("docs/index.md", "docs", ""),
        ("adr/notes.markdown", "docs", "adr/notes/"),
        ("docs/a.md", None, "docs/a/"),
    ],
)
def test_a_document_has_the_page_its_path_suggests(path: str, docs: str | None, url: str) -> None:
    assert document_url(path, docs) == url


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("https://example.org", "https://example.org/"),
        ("HTTPS://Example.org:8443/d//", "https://example.org:8443/d/"),
        ("https://exämple.org/ü b/%20c", "https://xn--exmple-cua.org/%C3%BC%20b/%20c/"),
    ],
)
def test_a_sites_address_is_ascii_and_ends_in_a_slash(text: str, address: str) -> None:
    assert site_address(text) == address


@pytest.mark.parametrize(
    "text", ["example.org", "ftp://example.org/", "https://", "https://[x/", "https://a.b/?c=d"]
)
def test_what_is_no_web_address_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not an address for a site"):
        site_address(text)
