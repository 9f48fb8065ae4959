"""Header and navigation of the site: the link to the repository, the newest release,
and the pages in groups.
"""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.acceptance.conftest import DemoSite
from tests.acceptance.site_cases import copied
from tests.conftest import Git

from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site

SOURCE = re.compile(r'<a href="([^"]*)" title="Repository" class="md-source">(.*?)</a>', re.DOTALL)
REPOSITORY = "  repository: https://github.com/acme/demo\n"
TAG = "v1.0<img/src=x>"


class Labels(HTMLParser):
    """The links of a page's navigation, each with its depth and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.entries: list[tuple[int, str]] = []
        self.depth, self.is_entry = 0, False
        self.feed(html[html.index("md-nav--primary") : html.index("md-sidebar--secondary")])

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.depth += tag == "ul"
        self.is_entry = self.is_entry or "md-ellipsis" in (dict(attributes).get("class") or "")

    def handle_endtag(self, tag: str) -> None:
        self.depth -= tag == "ul"

    def handle_data(self, data: str) -> None:
        if self.is_entry and data.strip():
            self.entries.append((self.depth, data.strip()))
            self.is_entry = False


@pytest.mark.parametrize(
    ("configured", "remote", "expected"),
    [
        (REPOSITORY, "https://example.org/other.git", "https://github.com/acme/demo"),
        ("", "git@gitlab.com:acme/shop.git", "https://gitlab.com/acme/shop"),
        ("", "https://user:secret@host.example/acme/shop.git", None),
    ],
)
def test_the_header_links_to_the_repository(
    tmp_path: Path, git: Git, configured: str, remote: str, expected: str | None
) -> None:
    root = copied("demo", tmp_path / "repo")
    config = root / ".orbit/config.yaml"
    text = config.read_text("utf-8")
    assert REPOSITORY in text
    config.write_text(text.replace(REPOSITORY, configured or "  branch: main\n"), "utf-8")
    for arguments in (
        ("init", "-q"),
        ("add", "."),
        ("commit", "-q", "-m", "All"),
        ("remote", "add", "origin", remote),
    ):
        git(root, *arguments)
    git(root, "tag", TAG)
    build_site(Registry.open(root), tmp_path / "site", snapshot=False)
    for page in ("index.html", "adrs/ADR-0002/index.html"):
        html = (tmp_path / "site" / page).read_text("utf-8")
        links = {address for address, _ in SOURCE.findall(html)}
        assert links == ({expected} if expected else set())
        assert "<img/src=x>" not in html
        assert "secret" not in html
        assert ("v1.0&lt;img/src=x&gt;" in html) is bool(expected)


def test_a_decision_can_be_edited_at_the_remote_of_a_clone(tmp_path: Path, git: Git) -> None:
    root = copied("demo", tmp_path / "repo")
    config = root / ".orbit/config.yaml"
    config.write_text(config.read_text("utf-8").replace(REPOSITORY, "  title: Demo\n"), "utf-8")
    for arguments in (
        ("init", "-q"),
        ("add", "."),
        ("commit", "-q", "-m", "All"),
        ("remote", "add", "origin", "git@github.com:acme/shop.git"),
        ("update-ref", "refs/remotes/origin/trunk", "HEAD"),
        ("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk"),
    ):
        git(root, *arguments)

    build_site(Registry.open(root), tmp_path / "site", snapshot=False)
    html = (tmp_path / "site/adrs/ADR-0002/index.html").read_text("utf-8")
    actions = html.partition('<ul class="orbit-actions"')[2].partition("</ul>")[0]
    addresses = re.findall(r'href="([^"]*)"', actions)
    assert addresses[0].startswith("https://github.com/acme/shop/edit/trunk/docs/")
    assert addresses[1].startswith("https://github.com/acme/shop/blob/trunk/docs/")


def test_the_navigation_has_groups(demo_site: DemoSite) -> None:
    html = (demo_site(every_kind=True) / "learnings/index.html").read_text("utf-8")
    entries = Labels(html).entries
    assert [label for depth, label in entries if depth == 1] == [
        "Home",
        "Decisions",
        "Learnings and other records",
        "Explore",
    ]
    inner = [label for depth, label in entries if depth == 2]
    assert inner[:3] == ["All decisions", "Design documents", "Learnings"]
    assert [label for label in inner if label in ("By path", "Map", "Health")] == [
        "By path",
        "Map",
        "Health",
    ]
