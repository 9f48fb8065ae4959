"""When a decision or rule is to be looked at again."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

ConditionKind = Literal["words", "path", "uses"]
BY, WHEN = "review_by", "revisit_when"
_MARKS: tuple[ConditionKind, ...] = ("path", "uses")
_EXAMPLES = {"path": "src/**", "uses": "redis"}
_MEANT = {
    "path": ("file", "files", "folder", "folders", "glob", "globs", "dir", "directory"),
    "uses": ("using", "used", "import", "imports", "package", "packages", "module", "modules"),
}
"""Words that people write in place of a mark."""
_NO_MARKS = frozenset(("patch", "users"))
"""Words that are near a mark, and that begin the subjects of commits."""
_NEAR = 0.8


@dataclass(frozen=True, slots=True)
class Condition:
    """What brings a review about: words of a commit, files that appear or change, or a package."""

    kind: ConditionKind
    value: str

    def __str__(self) -> str:
        if self.kind == "words":
            return self.value

        return f"{self.kind}: {self.value}"


@dataclass(frozen=True, slots=True)
class ReviewTerms:
    """When a review is due: from a month or day on, or once a condition is fulfilled."""

    by: str = ""
    when: tuple[Condition, ...] = ()
    unread: str = ""
    """What a document states as its date, where that is none."""


NO_TERMS = ReviewTerms()


def has_review(properties: Container[str]) -> bool:
    """Say whether records with these fields can state when to look at them again."""
    return BY in properties


def terms_from(data: Mapping[str, object], of_document: ReviewTerms) -> ReviewTerms:
    """Return the terms of a record: a field of its file counts before that of its document."""
    by = data.get(BY)
    entries = data.get(WHEN)
    conditions = conditions_of(entries) if isinstance(entries, list) else of_document.when
    if isinstance(by, str):
        return ReviewTerms(by, conditions)

    return ReviewTerms(of_document.by, conditions, of_document.unread)


def conditions_of(entries: Iterable[object]) -> tuple[Condition, ...]:
    """Return the conditions that a list states: `path: x` means the same as text and as YAML."""
    return tuple(dict.fromkeys(filter(None, map(_condition, entries))))


def _condition(entry: object) -> Condition | None:
    if isinstance(entry, Mapping):
        for kind in _MARKS:
            if kind in entry:
                return Condition(kind, str(entry[kind]).strip())

        return None

    text = " ".join(str(entry).split())
    mark, value = _marked(text)
    if mark in _MARKS and value:
        return Condition(mark, value.strip("`\"'"))

    if text:
        return Condition("words", text)

    return None


def meant_condition(entry: object) -> str:
    """Return what a condition with a mistyped mark was meant as: `path: src` for `paths: src`."""
    if isinstance(entry, Mapping):
        name, value = next(iter(entry.items()), ("", ""))
        mark, value = f"{name}".strip().lower(), f"{value}".strip()
    else:
        mark, value = _marked(" ".join(str(entry).split()))

    if mark in _MARKS:
        if value:
            return ""

        return f"{mark}: {_EXAMPLES[mark]}"

    meant = _mark_near(mark)
    if meant:
        return f"{meant}: {value or _EXAMPLES[meant]}"

    return ""


def _marked(text: str) -> tuple[str, str]:
    """Return the mark of a condition and what follows it; no mark where there is no colon."""
    mark, colon, value = text.strip("`\"' ").partition(":")
    if colon:
        return (mark.strip().lower(), value.strip())

    return ("", "")


def _mark_near(word: str) -> str:
    for mark, words in _MEANT.items():
        if word in words or sorted(word) == sorted(mark):
            return mark

    from difflib import get_close_matches  # few conditions have a colon

    is_word = word.isalpha() and word not in _NO_MARKS
    near = get_close_matches(word, _MARKS, n=1, cutoff=_NEAR) if is_word else []
    if near:
        return near[0]

    return ""
