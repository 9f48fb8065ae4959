"""Links to a repository's files are those of the forge that hosts it."""

import pytest

from orbit_registry.formats.hosting import FORMS, forge_of, public_address
from orbit_registry.workspace.config import config_schema

COMMIT = "8c52a3b1"
LINKS = {
    "github": (
        "https://github.com/acme/demo",
        "/blob/release/2/docs/a%20b.md",
        "/edit/release/2/docs/a%20b.md",
        "/blob/8c52a3b1/docs/a%20b.md#L7",
        "/tree/8c52a3b1/docs",
    ),
    "gitlab": (
        "https://gitlab.com/acme/group/demo",
        "/-/blob/release/2/docs/a%20b.md",
        "/-/edit/release/2/docs/a%20b.md",
        "/-/blob/8c52a3b1/docs/a%20b.md#L7",
        "/-/tree/8c52a3b1/docs",
    ),
    "gitea": (
        "https://codeberg.org/acme/demo",
        "/src/branch/release/2/docs/a%20b.md",
        "/_edit/release/2/docs/a%20b.md",
        "/src/commit/8c52a3b1/docs/a%20b.md#L7",
        "/src/commit/8c52a3b1/docs",
    ),
    "bitbucket": (
        "https://bitbucket.org/acme/demo",
        "/src/release/2/docs/a%20b.md",
        "/src/release/2/docs/a%20b.md?mode=edit",
        "/src/8c52a3b1/docs/a%20b.md#lines-7",
        "/src/8c52a3b1/docs",
    ),
}
"""By forge: a repository it is told by, and what follows that address in a link to read, edit,
a line, a folder.
"""


@pytest.mark.parametrize("name", LINKS)
@pytest.mark.parametrize("is_detected", [True, False])
def test_a_forge_is_told_by_its_address_or_named(name: str, is_detected: bool) -> None:
    repository, *ends = LINKS[name]
    if not is_detected:
        repository = "https://code.example.org/acme/demo"
    forge = forge_of(repository, "release/2", COMMIT, "auto" if is_detected else name)
    detected = (
        forge.view("docs/a b.md"),
        forge.edit("docs/a b.md"),
        forge.built("docs/a b.md", line=7),
    )
    expected = [None if end is None else repository + end for end in ends]
    assert [*detected, forge.built("docs", folder=True)] == expected


CHANGES = {
    "github": "/commit/8c52a3b1",
    "gitlab": "/-/commit/8c52a3b1",
    "gitea": "/commit/8c52a3b1",
    "bitbucket": "/commits/8c52a3b1",
}


@pytest.mark.parametrize("name", LINKS)
def test_a_commit_has_its_page_on_every_forge(name: str) -> None:
    repository = LINKS[name][0]
    assert forge_of(repository, "main").change(COMMIT) == f"{repository}{CHANGES[name]}"


@pytest.mark.parametrize("name", LINKS)
def test_links_of_a_workspace_in_a_subfolder_hold(name: str) -> None:
    repository, view, _, _, folder = LINKS[name]
    forge = forge_of(repository, "release/2", COMMIT, folder="docs/")
    assert forge.view("a b.md") == f"{repository}{view}"
    assert forge.built(".", folder=True) == f"{repository}{folder}"
    assert forge.built("../docs", folder=True) == f"{repository}{folder}"
    assert [forge.holds(path) for path in ("a", "../b", "..", "../../c")] == [
        True,
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("name", "fragment", "end"),
    [
        ("github", "L7-L9", "/blob/8c52a3b1/a.py#L7-L9"),
        ("gitlab", "install", "/-/blob/8c52a3b1/a.py#install"),
        ("bitbucket", "install", "/src/8c52a3b1/a.py#install"),
    ],
)
def test_a_line_in_a_link_is_written_as_forges_do(name: str, fragment: str, end: str) -> None:
    repository = LINKS[name][0]
    assert forge_of(repository, "main", COMMIT).linked("a.py", fragment) == f"{repository}{end}"


@pytest.mark.parametrize(
    ("cloned", "address"),
    [
        ("https://github.com/acme/demo.git", "https://github.com/acme/demo"),
        ("http://git.example.org:3000/acme/demo/", "http://git.example.org:3000/acme/demo"),
        ("git@github.com:acme/demo.git", "https://github.com/acme/demo"),
        ("gitlab.com:acme/group/demo.git", "https://gitlab.com/acme/group/demo"),
        ("ssh://git@gitlab.example.org:2222/acme/demo.git", "https://gitlab.example.org/acme/demo"),
        ("git://example.org/demo.git", "https://example.org/demo"),
        ("github.com/acme/demo", "https://github.com/acme/demo"),
        ("https://me:s3cret@github.com/acme/demo.git", "https://github.com/acme/demo"),
    ],
)
def test_an_address_to_clone_from_leads_to_its_pages(cloned: str, address: str) -> None:
    assert forge_of(cloned, "main").repository == address


NONE = [
    "",
    None,
    "demo",
    "/srv/git/demo.git",
    "../demo",
    "file:///srv/demo",
    "https://",
    "C:\\a",
    "https://[x/y",
]


@pytest.mark.parametrize(
    "repository",
    [*NONE, "javascript:alert(1)", "javascript://x.y/z", "https://code.example.org/a/b"],
)
def test_what_is_no_address_of_a_known_forge_gives_no_link(repository: str | None) -> None:
    forge = forge_of(repository, "main", COMMIT)
    links = [
        forge.view("a"),
        forge.edit("a"),
        forge.built("a", line=1),
        forge.linked("a", "L7"),
        forge.change(COMMIT),
    ]
    assert links == [None] * 5


def test_the_setting_names_every_form() -> None:
    assert config_schema().document["properties"]["site"]["properties"]["forge"]["enum"] == [
        "auto",
        *FORMS,
    ]


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("git@github.com:acme/demo.git", "https://github.com/acme/demo"),
        ("https://token@gitlab.example.org/acme/demo", "https://gitlab.example.org/acme/demo"),
        ("https://host.example.org/acme/demo", None),
        ("/srv/git/demo.git", None),
        (None, None),
    ],
)
def test_the_address_of_a_remote_is_public_at_a_known_forge(
    remote: str | None, address: str | None
) -> None:
    assert public_address(remote) == address
