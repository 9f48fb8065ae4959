"""Hashes of inputs: what counts as a change, what does not,
and what stands in the way of a hash.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.operations.freshness import fingerprints
from orbit_registry.operations.freshness.fingerprints import Fingerprints

CASES = Path(__file__).resolve().parents[3] / "cases" / "freshness"
PAIRS = json.loads((CASES / "pairs.json").read_text("utf-8"))


def write(root: Path, name: str, text: str) -> None:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode("utf-8", "surrogateescape"))


@pytest.mark.parametrize("case", PAIRS, ids=lambda case: case["why"])
def test_two_forms_of_a_file(case: dict[str, Any], tmp_path: Path) -> None:
    hashes = []
    for text in (case["one"], case["other"]):
        write(tmp_path, case["file"], text)
        result = Fingerprints(tmp_path, None).find(case.get("input", case["file"]))
        assert result.problem is None
        hashes.append(result.hash)
    assert (hashes[0] == hashes[1]) is case["same"]


EXPLODING = {
    "a number too long to write out": ("a.toml", "a = 0x" + "f" * 6000),
    "a decimal number too long to read": ("a.json", "[" + "9" * 6000 + "]"),
    "dotted keys that nest": ("a.toml", ".".join(["a"] * 3000) + " = 1"),
    "a table's name that nests": ("a.toml", "[" + ".".join(["a"] * 3000) + "]"),
    "brackets that nest": ("a.json", "[" * 100_000),
}


@pytest.mark.parametrize("name", EXPLODING)
def test_an_exploding_file_is_a_text_without_fields(name: str, tmp_path: Path) -> None:
    file, text = EXPLODING[name]
    write(tmp_path, file, text)
    write(tmp_path, "a.txt", text)
    fingerprints = Fingerprints(tmp_path, [])

    assert fingerprints.find(file).hash == fingerprints.find("a.txt").hash
    assert "can't be read: a." in str(fingerprints.find(f"{file}#a").problem)


def folder(root: Path, *names: str) -> str | None:
    """Return the hash of `src/` with these files tracked."""
    return Fingerprints(root, sorted(names)).find("src/").hash


def test_a_folder_is_its_tracked_files(tmp_path: Path) -> None:
    for name in ("src/a.py", "src/b/c.py", "src/loose.txt", "srcx/a.py"):
        write(tmp_path, name, name)
    first = folder(tmp_path, "src/a.py", "src/b/c.py", "srcx/a.py")
    os.utime(tmp_path / "src/a.py", (1, 1))
    write(tmp_path, "src/loose.txt", "other")
    write(tmp_path, "srcx/a.py", "other")
    assert folder(tmp_path, "src/a.py", "src/b/c.py", "srcx/a.py") == first
    assert folder(tmp_path, "src/a.py", "src/b/c.py", "src/loose.txt") != first
    (tmp_path / "src/b/c.py").rename(tmp_path / "src/b/d.py")
    renamed = folder(tmp_path, "src/a.py", "src/b/d.py")
    assert renamed not in (None, first)
    (tmp_path / "src/b/d.py").unlink()
    assert folder(tmp_path, "src/a.py", "src/b/d.py") == folder(tmp_path, "src/a.py")
    assert folder(tmp_path, "src/a.py") not in (None, first, renamed)


def test_a_folder_outside_git_can_t_be_told(tmp_path: Path) -> None:
    write(tmp_path, "src/a.py", "a")
    result = Fingerprints(tmp_path, None).find("src/")
    assert (result.hash, result.is_unknown, result.is_missing) == (None, True, False)


def test_a_link_is_never_followed(tmp_path: Path) -> None:
    write(tmp_path, "outside/secret.txt", "secret")
    root = tmp_path / "root"
    write(root, "src/a.py", "a")
    (root / "src/link.txt").symlink_to(tmp_path / "outside/secret.txt")
    (root / "way").symlink_to(tmp_path / "outside")
    result = Fingerprints(root, ["src/a.py", "src/link.txt", "way/secret.txt"])
    for text in ("src/link.txt", "way", "way/", "way/secret.txt"):
        output = result.find(text)
        assert output.hash is None
        assert "symbolic link" in str(output.problem)
    first = result.find("src/").hash
    write(tmp_path, "outside/secret.txt", "another")
    assert Fingerprints(root, ["src/a.py", "src/link.txt"]).find("src/").hash == first
    (root / "src/link.txt").unlink()
    (root / "src/link.txt").symlink_to(tmp_path / "elsewhere")
    assert Fingerprints(root, ["src/a.py", "src/link.txt"]).find("src/").hash != first


def test_what_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fingerprints, "FILE_LIMIT", 10)
    monkeypatch.setattr(fingerprints, "DOCUMENT_LIMIT", 10)
    monkeypatch.setattr(fingerprints, "FOLDER_FILES", 1)
    write(tmp_path, "big.txt", "x" * 11)
    write(tmp_path, "big.json", '{"a": "xxxxxxxxx"}')
    write(tmp_path, "src/a.py", "a")
    write(tmp_path, "src/b.py", "b")
    result = Fingerprints(tmp_path, ["src/a.py", "src/b.py"])
    for text in ("big.txt", "big.json#a", "src/"):
        assert "at most" in str(result.find(text).problem)
