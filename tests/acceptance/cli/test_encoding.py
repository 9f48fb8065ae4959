"""The answers in the terminals of `tests/cases/locales.yaml`, each beside that of one in UTF-8."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
import yaml
from tests.acceptance.conftest import orbit
from tests.files import commit, write

CASES = yaml.safe_load((Path(__file__).parents[2] / "cases/locales.yaml").read_text("utf-8"))
FILE = "quellen/Übergabe/lager.py"
DOCUMENT = "# Datenbank für Übergaben\n\n## Status\n\nAkzeptiert\n\n## Entscheidung\n\nSQLite.\n"


@pytest.fixture(scope="module")
def locales(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the western locale, which few machines have."""
    if shutil.which("localedef") is None:
        pytest.skip("needs `localedef` to make a western locale")

    folder = tmp_path_factory.mktemp("locales")
    words = ["localedef", "-i", "de_DE", "-f", "ISO-8859-1", f"{folder}/de_DE.ISO-8859-1"]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("needs the sources of the locale de_DE")

    return folder


@pytest.fixture(scope="module")
def german(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project whose files, decisions and learnings have umlauts."""
    root = tmp_path_factory.mktemp("german")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    write(root, FILE, "x = 1\n")
    write(root, "dok/entscheidungen/0001-datenbank.md", DOCUMENT)
    commit(root)
    orbit(root, "init", "--yes")
    orbit(root, "import", "dok/entscheidungen")
    orbit(root, "learning", "new", "Straße ➜ 💥", "--path", FILE)
    commit(root)
    return root


def printed(root: Path, words: list[str], terminal: Mapping[str, str]) -> tuple[int, bytes, bytes]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    program = [sys.executable, "-m", "orbit_registry"]
    answer = subprocess.run(
        [*program, *words], cwd=root, env={**plain, **terminal}, capture_output=True, check=False
    )
    return answer.returncode, answer.stdout, answer.stderr


@cache
def printed_in_utf8(root: Path, words: tuple[str, ...]) -> tuple[int, bytes, bytes]:
    return printed(root, [*words], {"LC_ALL": "C.UTF-8"})


@pytest.mark.parametrize("terminal", CASES["terminals"])
def test_a_terminal_of_other_letters_gets_the_same_answers(
    german: Path, locales: Path, terminal: str
) -> None:
    settings = {"LOCPATH": str(locales), **CASES["terminals"][terminal]}
    encoding = "latin-1" if "western" in terminal else "utf-8"

    for words in CASES["commands"]:
        code, out, err = printed(german, words, settings)
        expected = printed_in_utf8(german, tuple(words))

        assert code == expected[0], err
        drawn = expected[1] if "json" in words else _drawn(expected[1], encoding)
        assert out == drawn, words
        assert err == _drawn(expected[2], encoding)


def _drawn(text: bytes, encoding: str) -> bytes:
    return text.decode().encode(encoding, "backslashreplace")


def test_a_word_typed_in_a_western_terminal_is_understood(german: Path, locales: Path) -> None:
    terminal = {"LOCPATH": str(locales), "LC_ALL": "de_DE.ISO-8859-1"}
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    words = [b"search", "Übergaben".encode("latin-1"), b"--format", b"json"]
    program = [os.fsencode(sys.executable), b"-m", b"orbit_registry"]
    answer = subprocess.run(
        [*program, *words], cwd=german, env={**plain, **terminal}, capture_output=True, check=True
    )

    assert [hit["id"] for hit in json.loads(answer.stdout)["data"]["hits"]] == ["ADR-0001"]
