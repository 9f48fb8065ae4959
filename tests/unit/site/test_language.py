"""The words of pages: every language has the same keys and places, and English fills a gap."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from orbit_registry.site import language

ENGLISH = "number.between: ','\na.one: '{n} day'\na.other: '{n} days'\nb: More\n"
GERMAN = "number.between: .\na.one: '{n} Tag'\nb: Mehr\n"
PLACE = re.compile(r"\{\w+\}")


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    language.choose(language.ENGLISH)
    yield
    language.choose(language.ENGLISH)


@pytest.mark.parametrize("name", language.languages())
def test_every_language_has_the_same_keys_and_places(name: str) -> None:
    english = language.words_of(language.ENGLISH)
    own = language._read(name)
    assert list(own) == list(english), "in the same order, so that files can be compared"
    assert {key: sorted(PLACE.findall(text)) for key, text in own.items()} == {
        key: sorted(PLACE.findall(text)) for key, text in english.items()
    }


def test_a_word_that_a_language_lacks_is_english(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "en.yaml").write_text(ENGLISH, "utf-8")
    (tmp_path / "de.yaml").write_text(GERMAN, "utf-8")
    monkeypatch.setattr(language, "FOLDER", tmp_path)
    language.words_of.cache_clear()
    language.choose("de-AT")
    try:
        assert language.word("b") == "Mehr"
        assert language.counted("a", 1) == "1 Tag"
        assert language.counted("a", 2000) == "2.000 days"
        assert language.word_or("kind.made-up", "Experiments") == "Experiments"
    finally:
        language.words_of.cache_clear()


@pytest.mark.parametrize(
    ("site", "settings", "expected"),
    [
        ({}, None, "en"),
        ({"language": "de"}, None, "de"),
        ({"language": "de"}, {"theme": "material"}, "de"),
        ({"language": "de"}, {"theme": {"name": "material"}}, "de"),
        ({"language": "de"}, {"theme": {"language": "fr"}}, "fr"),
        ({}, {"theme": {"language": "de"}}, "de"),
    ],
)
def test_the_theme_chooses_the_language(
    site: dict[str, str], settings: dict[str, object] | None, expected: str
) -> None:
    assert language.language_of(site, settings) == expected


def test_scripts_get_their_words(tmp_path: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("needs Node")
    language.choose("de")
    script = tmp_path / "words.js"
    nothing = "orbitWords.word('box.nothing', {text: '$&</x>'})"
    ask = f"console.log(orbitWords.counted('box.page', 1200), {nothing})"
    script.write_text(f"{language.script()}\n{ask}\n", "utf-8")
    done = subprocess.run(["node", script], capture_output=True, text=True, check=True)
    assert done.stdout == "1.200 Seiten Nichts gefunden für „$&</x>“\n"
    assert json.dumps("box.page.one") in language.script()
