"""Links of a document lead to a page if there is one, else to the forge at the built commit;
others are findings.
"""

import re
from html import unescape
from pathlib import Path

import pytest
from tests.conftest import Git
from tests.files import write

from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site

CONFIG = (
    "format: orbit-registry\nschema_version: 1\nsite: {repository: https://github.com/acme/demo}\n"
)
FILES = {
    "src/pkg/a.py": "pass\n",
    "src/pkg/README.md": "# Package\n",
    "src/with space/a b.py": "pass\n",
    "src/ünï/é.py": "pass\n",
    "src/100%.py": "pass\n",
    "src/a#b.py": "pass\n",
    "docs/design/other/1_overview.md": "# Other\n\n## A Part\n",
    "docs/design/other/README.md": "# Folder\n",
    "docs/design/core/Ünï doc.md": "# Ünï\n",
    "docs/design/core/pic one.svg": '<svg xmlns="http://www.w3.org/2000/svg"/>',
}
PAGE, FORGE = "../../", "https://github.com/acme/demo/{}/COMMIT/{}"
DEAD, NOTHING = "", "leads to nothing"
UNHELD = "leads to what git does not hold"
CASES = (
    # what is mirrored
    ("[a](../other/1_overview.md)", f"{PAGE}other/1_overview/"),
    ("[a](./../other/1_overview.md#a-part)", f"{PAGE}other/1_overview/#s-a-part"),
    ("[a](/docs/design/other/1_overview.md)", f"{PAGE}other/1_overview/"),
    ("[a](../other/)", f"{PAGE}other/"),
    ("[a](../other)", f"{PAGE}other/"),
    ("[a](<Ünï doc.md>)", "../%C3%9Cn%C3%AF%20doc/"),
    ("[a](%C3%9Cn%C3%AF%20doc.md)", "../%C3%9Cn%C3%AF%20doc/"),
    ("[a][ref]", f"{PAGE}other/1_overview/"),
    ("[ref]", f"{PAGE}other/1_overview/"),
    ("[a](#core)", "#s-core"),
    ("![a](<pic one.svg>)", "../../../files/docs/design/core/pic%20one.svg"),
    ("![a](pic%20one.svg)", "../../../files/docs/design/core/pic%20one.svg"),
    # what is not
    ("[a](../../../src/pkg/a.py)", FORGE.format("blob", "src/pkg/a.py")),
    ("[a](/src/pkg/a.py#L1)", FORGE.format("blob", "src/pkg/a.py#L1")),
    ("[a](../../../src/pkg/a.py?plain=1#L1)", FORGE.format("blob", "src/pkg/a.py#L1")),
    ("[a](<../../../src/with space/a b.py>)", FORGE.format("blob", "src/with%20space/a%20b.py")),
    ("[a](../../../src/with%20space/a%20b.py)", FORGE.format("blob", "src/with%20space/a%20b.py")),
    ("[a](../../../src/ünï/é.py)", FORGE.format("blob", "src/%C3%BCn%C3%AF/%C3%A9.py")),
    ("[a](../../../src/100%25.py)", FORGE.format("blob", "src/100%25.py")),
    ("[a](../../../src/a%23b.py)", FORGE.format("blob", "src/a%23b.py")),
    ("[a](../../../src/pkg/README.md)", FORGE.format("blob", "src/pkg/README.md")),
    ("[a](../../../src/pkg/)", FORGE.format("tree", "src/pkg")),
    ("[a](../../../)", FORGE.format("tree", "")),
    ("[a](../../link.py)", FORGE.format("blob", "docs/link.py")),
    ("[a](<pic one.svg>)", FORGE.format("blob", "docs/design/core/pic%20one.svg")),
    ("[a](../../../vendor/sub)", FORGE.format("tree", "vendor/sub")),
    ("[a](https://example.org/x.md)", "https://example.org/x.md"),
    ("[a](mailto:a@example.org)", "mailto:a@example.org"),
    # what leads nowhere
    ("[a](gone.md)", NOTHING),
    ("[a](../other/1_overview)", NOTHING),
    ("[a](../Other/1_overview.md)", NOTHING),
    ("[a](../../away/passwd)", UNHELD),
    ("[a](../../../vendor/sub/inside.c)", UNHELD),
    ("[a](../../../build/out.txt)", UNHELD),
    ("[a](../../../.git/config)", "leads to"),
    ("[a](#nowhere)", "has no heading"),
    ("![a](gone.png)", "does not exist"),
    ("![a](../../../src/pkg/a.py)", "of no kind that a page can show"),
    # HTML is text in a mirrored document
    ('<a href="../gone.md">a</a>', DEAD),
)
"""What a line says, and where it leads, or what is found there."""


def repository(top: Path, folder: str, git: Git) -> tuple[Path, str]:
    """Make a repository with a workspace in a folder of it; return that folder and the commit."""
    root = top / folder
    lines = "\n".join(f"- {link}" for link, _ in CASES)
    text = f"# Core\n\n{lines}\n\n[ref]: ../other/1_overview.md\n"
    files = {**FILES, ".orbit/config.yaml": CONFIG, "docs/design/core/1_overview.md": text}
    for path, content in files.items():
        write(root, path, content)
    write(top, "away/passwd", "x")
    (root / "docs/link.py").symlink_to("../src/pkg/a.py")
    (root / "docs/away").symlink_to(top / "away")
    git(top, "init", "--quiet")
    (root / "vendor").mkdir()
    git(root / "vendor", "init", "--quiet", "sub")
    (root / "vendor/sub/inside.c").write_text("x", "utf-8")
    git(root / "vendor/sub", "add", "--all")
    git(root / "vendor/sub", "commit", "--quiet", "--message", "one")
    (top / ".gitignore").write_text("build/\n", "utf-8")
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "--message", "one")
    write(root, "build/out.txt", "x")
    return root, git(top, "rev-parse", "HEAD").strip()


@pytest.mark.parametrize("folder", ["", "services/shop/"])
def test_each_link_leads_somewhere_or_is_a_finding(folder: str, tmp_path: Path, git: Git) -> None:
    root, commit = repository(tmp_path / "repo", folder, git)
    result = build_site(Registry.open(root), tmp_path / "site", snapshot=False)
    html = (tmp_path / "site/design/core/1_overview/index.html").read_text("utf-8")
    lines = re.findall(r"<li>(.*?)</li>", html[html.index("orbit-document") :], re.DOTALL)
    path = "docs/design/core/1_overview.md"
    messages = {
        problem.location.position.line: problem.message
        for problem in result.diagnostics
        if problem.location.position
    }
    assert {problem.location.path for problem in result.diagnostics} == {path}
    for number, ((link, expected), item) in enumerate(
        zip(CASES, lines[: len(CASES)], strict=True), 3
    ):
        led = re.search(r'<(?:a|img)[^>]* (?:href|src)="([^"]*)"', item)
        if led is None:
            assert expected in messages.get(number, ""), link
            assert bool(expected) == (number in messages), link
            continue
        assert number not in messages, link
        target = expected.replace("COMMIT/", f"{commit}/{folder}")
        assert unescape(led[1]) == (
            target.removesuffix("/") if expected.endswith("COMMIT/") and folder else target
        )


def test_a_link_may_leave_the_workspace_but_not_the_repository(tmp_path: Path, git: Git) -> None:
    top = tmp_path / "repo"
    root = top / "services/shop"
    text = (
        "# Core\n\n- [a](../../../../../shared/a.py)\n- [a](/shared/a.py)\n- "
        "[a](../../../../../../b.py)\n"
    )
    for path, content in (
        ("services/shop/.orbit/config.yaml", CONFIG),
        ("services/shop/docs/design/core/1_overview.md", text),
        ("shared/a.py", "pass\n"),
    ):
        write(top, path, content)
    git(top, "init", "--quiet")
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "--message", "one")
    result = build_site(Registry.open(root), tmp_path / "site", snapshot=False)
    html = (tmp_path / "site/design/core/1_overview/index.html").read_text("utf-8")
    commit = git(top, "rev-parse", "HEAD").strip()
    assert html.count(f'href="https://github.com/acme/demo/blob/{commit}/shared/a.py"') == 2
    assert (
        'href="https://github.com/acme/demo/edit/main/services/shop/docs/design/core/1_overview.md"'
        in html
    )
    (out,) = result.diagnostics
    assert (str(out.location), "leads out of the repository" in out.message) == (
        "docs/design/core/1_overview.md:5:3",
        True,
    )
