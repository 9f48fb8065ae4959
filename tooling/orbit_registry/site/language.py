"""Words that pages show, one file a language, for Python, templates and scripts.

A build chooses its language once; a word that its file lacks is English.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

from orbit_registry.formats.yaml import load
from orbit_registry.model.kind import Kind, Status

FOLDER = Path(__file__).parent / "languages"
ENGLISH = "en"
SCRIPT = "assets/orbit/words.js"
"""The words of the scripts, as a script that is loaded before them."""
FACTS = "fact."
"""What the keys of the core's own sentences begin with."""
IN_SCRIPTS = ("box.", "console.", "copy.", "day.", "filter.", "paths.", "results.")
"""What the keys of the scripts' words begin with."""
_language = ContextVar("language", default=ENGLISH)
_PLACE = re.compile(r"\{(\w+)\}")


def choose(name: str) -> None:
    """Make the pages of this build in a language, such as `de` or `de-AT`."""
    _language.set(name)


def current() -> str:
    """Return the language of this build."""
    return _language.get()


def language_of(site: Mapping[str, Any], user_settings: Mapping[str, Any] | None) -> str:
    """Return the language of a site: what `mkdocs.yml` sets for its theme, else `site.language`."""
    theme = (user_settings or {}).get("theme")
    chosen = theme.get("language") if isinstance(theme, Mapping) else None
    return str(chosen or site.get("language") or ENGLISH)


def languages() -> list[str]:
    """Return the languages that have a file."""
    return sorted(file.stem for file in FOLDER.glob("*.yaml"))


@cache
def words_of(name: str) -> Mapping[str, str]:
    """Return all words by their keys, in a language; English where it has no file, or no word."""
    words = _read(ENGLISH)
    for language in dict.fromkeys((name.partition("-")[0], name)):
        if language in languages():
            words |= _read(language)

    return words


def _read(name: str) -> dict[str, str]:
    content: Any = load((FOLDER / f"{name}.yaml").read_text("utf-8"))
    return {str(key): str(text) for key, text in content.items()}


def word(key: str, **values: object) -> str:
    """Return the words of a key with values in their places."""
    text = words_of(_language.get())[key]
    if not values:
        return text

    return _PLACE.sub(lambda match: str(values[match[1]]), text)


def counted(key: str, number: int, **values: object) -> str:
    """Return a number of things: the words of `KEY.one` or `KEY.other`."""
    form = "one" if number == 1 else "other"
    return word(f"{key}.{form}", n=digits(number), **values)


def digits(number: int) -> str:
    """Return a number with what this language has between its thousands."""
    return f"{number:,}".replace(",", word("number.between"))


def relation_within(rel: str) -> str:
    """Return how a relation reads within a sentence; one that is not ours by its name."""
    return words_of(_language.get()).get(f"relation.{rel}", rel.lower())


def relation_label(rel: str) -> str:
    """Return how a relation reads as a label."""
    text = words_of(_language.get()).get(f"relation.{rel}")
    if text:
        return capital(text)

    return rel


def column_label(column: str) -> str:
    """Return the heading of a column; of a project's own one its name as words."""
    return word_or(f"column.{column}", column.replace("_", " ").capitalize())


def capital(text: str) -> str:
    """Return words as the beginning of a sentence."""
    return f"{text[:1].upper()}{text[1:]}"


def word_or(key: str, text: str) -> str:
    """Return a text of the core in the language of this build; one that a project wrote stays."""
    is_ours = words_of(ENGLISH).get(key) == text
    if is_ours:
        return word(key)

    return text


def fact(text: str) -> str:
    """Return a sentence of the core in the language of this build; one that is not known stays."""
    if _language.get() == ENGLISH:
        return text

    for key, pattern in _facts():
        match = pattern.fullmatch(text)
        if match is not None:
            parts = {name: fact(part) for name, part in match.groupdict().items()}
            return word(key, **parts)

    return text


@cache
def _facts() -> Sequence[tuple[str, re.Pattern[str]]]:
    """Return what the core's sentences look like in English, by the keys of their words."""
    facts = []
    for key, text in words_of(ENGLISH).items():
        if key.startswith(FACTS):
            form = _PLACE.sub(r"(?P<\1>.+?)", re.sub(r"[^\w{}\s]", r"\\\g<0>", text))
            facts.append((key, re.compile(form)))

    return facts


def status_word(status: Status) -> str:
    """Return a status as a reader knows it."""
    return word_or(f"status.{status.word.replace(' ', '-')}", status.word)


def labels_of(kind: Kind) -> str:
    """Return the heading of a kind's records."""
    return word_or(f"kind.{kind.name}.labels", kind.labels)


def things_of(kind: Kind) -> str:
    """Return the name of a kind's records within a sentence."""
    return word_or(f"kind.{kind.name}.things", kind.labels.lower())


def thing_of(kind: Kind) -> str:
    """Return the name of one of a kind's records within a sentence."""
    return word_or(f"kind.{kind.name}.thing", kind.label.lower())


def words_for_templates() -> Mapping[str, str]:
    """Return the words of the theme's templates, in the language of this build."""
    return {key: text for key, text in words_of(_language.get()).items() if key.startswith("page.")}


def script() -> str:
    """Return the script that gives scripts their words, in the language of this build."""
    words = {
        key: text for key, text in words_of(_language.get()).items() if key.startswith(IN_SCRIPTS)
    }
    table = json.dumps(words, ensure_ascii=True, separators=(",", ":"))
    language = json.dumps(_language.get())
    return (
        (FOLDER / "words.js")
        .read_text("utf-8")
        .replace("@words@", table)
        .replace("@language@", language)
    )


def digest() -> str:
    """Return a digest of all words in the language of this build."""
    text = json.dumps([_language.get(), *words_of(_language.get()).items()])
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()
