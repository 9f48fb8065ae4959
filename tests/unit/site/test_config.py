"""A repository's own navigation is kept, completed, and cleared of pages that do not exist."""

import io
from pathlib import Path

import pytest
from mkdocs.utils.yaml import yaml_load
from pymdownx.superfences import fence_code_format

from orbit_registry.errors import RefusedError
from orbit_registry.site.config import completed_nav, read_user_config, without_missing
from orbit_registry.site.stage_config import dumped

RECORDS: list[object] = [
    {"Learnings": "learnings/index.md"},
    {"Rules": "rules/index.md"},
    {"Retros": "retros/index.md"},
]
GENERATED: list[object] = [{"Decisions": "adrs/index.md"}, {"Other records": RECORDS}]


def test_what_a_navigation_names_is_not_added_again() -> None:
    existing: list[object] = ["index.md", {"Why": [{"All": "adrs/index.md"}]}]
    assert completed_nav(existing, [], GENERATED) == [*existing, {"Other records": RECORDS}]


def test_a_group_keeps_the_pages_that_a_navigation_lacks() -> None:
    existing: list[object] = ["adrs/index.md", "rules/index.md"]
    assert completed_nav(existing, [], GENERATED)[2:] == [
        {"Other records": [RECORDS[0], RECORDS[2]]}
    ]
    existing.append("retros/index.md")
    assert completed_nav(existing, [], GENERATED)[3:] == [RECORDS[0]]


def test_without_a_navigation_the_pages_make_one() -> None:
    nav = completed_nav([], ["index.md", "z.md", "how_to/a.md", "how_to/deep/b.md"], [])
    assert nav == ["index.md", "z.md", {"How to": ["how_to/a.md", {"Deep": ["how_to/deep/b.md"]}]}]


def test_an_entry_without_a_page_is_left_out_and_named() -> None:
    existing: list[object] = [
        "index.md",
        {"A": ["a.md", "b.md"]},
        {"C": "c.md"},
        {"Web": "https://example.org"},
    ]
    remaining, missing = without_missing(existing, {"index.md", "a.md"})
    assert remaining == ["index.md", {"A": ["a.md"]}, {"Web": "https://example.org"}]
    assert missing == ["b.md", "c.md"]


@pytest.mark.parametrize(
    ("setting", "makes_nav", "nav_file"),
    [
        ("plugins: [search, awesome-nav]", True, ""),
        ("plugins: {literate-nav: {nav_file: NAV.md}}", True, "NAV.md"),
        ("plugins: [literate-nav]\nnav: [index.md]", False, "SUMMARY.md"),
        ("plugins: [search]", False, ""),
        ("", False, ""),
    ],
)
def test_a_plugin_that_makes_the_navigation_is_let_do_it(
    tmp_path: Path, setting: str, makes_nav: bool, nav_file: str
) -> None:
    (tmp_path / "mkdocs.yml").write_text(f"site_name: x\n{setting}\n", "utf-8")
    config = read_user_config(tmp_path)
    assert config is not None
    assert (config.makes_nav, config.nav_file) == (makes_nav, nav_file)


@pytest.mark.parametrize(
    ("setting", "running"),
    [
        ("{}", []),
        ("plugins: [search, material/tags, {blog: {}}, orbit]", []),
        (
            "plugins: {search: {}, projects: {projects_dir: ..}}",
            ['{"projects": {"projects_dir": ".."}}'],
        ),
        ("plugins: [material/projects, macros]", ['"material/projects"', '"macros"']),
        ("theme: {name: null, custom_dir: ours}", ["theme.custom_dir: ours"]),
        ("INHERIT: parent.yml", ["theme.custom_dir: ours", '"exec"']),
        ("markdown_extensions: [toc, pymdownx.snippets]", ['"pymdownx.snippets"']),
        (
            "markdown_extensions: {toc: {}, pymdownx.b64: {base_path: /}}",
            ['{"pymdownx.b64": {"base_path": "/"}}'],
        ),
    ],
)
def test_what_runs_code_is_named_and_can_be_left_out(
    tmp_path: Path, setting: str, running: list[str]
) -> None:
    (tmp_path / "parent.yml").write_text(
        "theme: {custom_dir: ours}\nplugins: [exec, search]\n", "utf-8"
    )
    (tmp_path / "mkdocs.yml").write_text(
        f"site_name: x\n{setting if setting != '{}' else ''}\n", "utf-8"
    )
    config = read_user_config(tmp_path)
    assert config is not None
    assert list(config.code_settings) == running
    harmless = config.without_code("because")
    assert (harmless.code_settings, harmless.data["theme"]["name"], harmless.blocked_reason) == (
        (),
        "material",
        "because",
    )


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("hooks: [evil.py]", "hooks"),
        ("a: !!python/object/apply:os.mkdir [ran]", "python"),
        ("a: !!python/object/new:os.mkdir [ran]", "python"),
        ("a: !!python/name:os.system", "python"),
        ("a: !!python/module:antigravity", "python"),
        ("%TAG !p! tag:yaml.org,2002:python/object/\n---\na: !p!apply:os.mkdir [ran]", "python"),
        ("a: !<tag:yaml.org,2002:python/object/apply:os.mkdir> [ran]", "python"),
        ("INHERIT: parent.yml", "hooks"),
        ("INHERIT: ../parent.yml", "INHERIT"),
        ("INHERIT: link/parent.yml", "INHERIT"),
        ("docs_dir: ../elsewhere", "docs_dir"),
        ("docs_dir: /tmp", "docs_dir"),
        ("docs_dir: link", "docs_dir"),
        ("theme: {name: material, custom_dir: /etc}", "custom_dir"),
        ("theme: {name: material, custom_dir: ../theme}", "custom_dir"),
        ("theme: {name: material, custom_dir: link}", "custom_dir"),
    ],
)
def test_what_runs_code_or_leads_out_is_refused(
    tmp_path: Path, text: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    monkeypatch.chdir(root)
    (tmp_path / "parent.yml").write_text("site_name: x", "utf-8")
    (root / "link").symlink_to(tmp_path)
    (root / "parent.yml").write_text("hooks: [evil.py]", "utf-8")
    (root / "mkdocs.yml").write_text(text, "utf-8")
    with pytest.raises(RefusedError, match=key) as refused:
        read_user_config(root)
    assert "mkdocs build" in str(refused.value.hint)
    assert not (root / "ran").exists()


def test_the_functions_that_material_documents_are_taken(tmp_path: Path) -> None:
    names = ["pymdownx.superfences.fence_code_format", "material.extensions.emoji.twemoji"]
    (tmp_path / "mkdocs.yml").write_text(
        "\n".join(f"k{at}: !!python/name:{n}" for at, n in enumerate(names)), "utf-8"
    )
    assert read_user_config(tmp_path) is not None


def test_a_configured_function_keeps_its_name() -> None:
    text = dumped(
        {"markdown_extensions": [{"pymdownx.superfences": {"format": fence_code_format}}], "z": '"'}
    )
    assert "!!python/name:pymdownx.superfences.fence_code_format ''" in text
    read = yaml_load(io.StringIO(text))
    assert read == {
        "markdown_extensions": [{"pymdownx.superfences": {"format": fence_code_format}}],
        "z": '"',
    }
