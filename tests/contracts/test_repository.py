"""What no committed file may hold, traces of one machine above all,
and what fragments of the changelog are called.
"""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).relative_to(ROOT).as_posix()


def tracked_texts() -> dict[str, str]:
    """Return every text file that git tracks or would add, by its path."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    names = [name for name in listed.stdout.decode().split("\0") if name and name != HERE]
    raw = {name: (ROOT / name).read_bytes() for name in names if (ROOT / name).is_file()}
    return {
        name: data.decode("utf-8", "replace")
        for name, data in raw.items()
        if b"\0" not in data[:8000]
    }


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """Read the repository once."""
    return tracked_texts()


@pytest.mark.parametrize(
    ("what", "pattern"),
    [
        ("the path of this checkout", re.escape(str(ROOT)) + r"\b"),
        ("a folder of the superuser", r"(?<![\w.])/root/"),
        ("a package index", r"\b(pypi|pythonhosted|npmjs|debian)\.(org|net|com)\b"),
        ("an index option", r"--(extra-)?index-url|--find-links|--trusted-host"),
        ("an unfinished merge", r"(?m)^(<{7}|>{7}) "),
    ],
    ids=lambda value: value if " " in value and "\\" not in value else "",
)
def test_the_repository_speaks_of_the_project_alone(
    texts: dict[str, str], what: str, pattern: str
) -> None:
    cases = ("tests/cases/",)
    hits = [
        name
        for name, text in texts.items()
        if not name.startswith(cases) and re.search(pattern, text)
    ]
    assert hits == [], f"{what} is named there"


def test_no_text_has_a_banned_phrase(texts: dict[str, str]) -> None:
    """Codespell reads the same list and finds its single words."""
    banned = "docs/contributing/banned-words.txt"
    phrases = [line.partition("->")[0] for line in texts[banned].splitlines()]
    pattern = re.compile(
        rf"\b(?:{'|'.join(phrase for phrase in phrases if ' ' in phrase)})\b", re.IGNORECASE
    )
    folders, others = ("docs/", "tooling/", "site-overrides/"), (banned, "docs/design/")
    assert [
        f"{name}:{number}: {match[0]}"
        for name, text in texts.items()
        if name.startswith(folders) and not name.startswith(others) and not name.endswith(".svg")
        for number, line in enumerate(text.splitlines(), start=1)
        if (match := pattern.search(line)) and "codespell:ignore" not in line
    ] == []


def test_data_that_the_package_reads_is_tracked(texts: dict[str, str]) -> None:
    """No data file of the package is hidden by an ignore rule: the wheel would lack it."""
    package = ROOT / "tooling" / "orbit_registry"
    data = [
        path for path in package.rglob("*") if path.is_file() and path.suffix not in {".py", ".pyc"}
    ]
    listed = subprocess.run(
        ["git", "check-ignore", *map(str, data)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert listed.stdout.split() == []
    assert "tooling/orbit_registry/py.typed" in texts


def test_a_fragment_of_the_changelog_belongs_to_no_ticket(texts: dict[str, str]) -> None:
    """Without the plus its name would stand behind the sentence, as the number of a ticket."""
    names = {name.rpartition("/")[2] for name in texts if name.startswith("changelog.d/")} - {
        "README.md"
    }
    assert [
        name
        for name in sorted(names)
        if not re.fullmatch(r"\+[a-z0-9-]+\.(added|changed|fixed|removed)\.md", name)
    ] == []
