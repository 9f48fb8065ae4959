"""Class of a task by its words, with reasons and without a model: one judgement for a prompt and
for a brief.

What decides is what is asked for: the verb of a sentence or of its parts, the object of that verb,
how a question begins, and what is ruled out ("don't change anything"). The words are in
`task_class.toml`. "Unsure" costs little, but a question taken for work on code shows the wrong
records. A hook loads it only at a prompt to which a record about how to work applies.
"""

import re
import tomllib

from orbit_registry.hook.files import content_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

CODE_GEN = "code-gen"
CLASSES = (CODE_GEN, "exploration", "qa", "other")
LARGEST = 1_000_000  # bytes of the file of words
SURE = 0.6  # confidence from which a class is relied on
LONGEST = 20_000  # characters of a task that are read
MOST_REASONS = 8
MOST_SENTENCES, MOST_PARTS = (
    200,
    20,
)  # sentences, and parts of each, that are weighed: requests come first
_SPACES = re.compile(r"[^\S\n]+")
_FENCE = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)", re.MULTILINE | re.DOTALL)
_QUOTED = re.compile(r"^\s*>.*$", re.MULTILINE)
_SENTENCE = re.compile(r"[^.!?;\n]+(?:[.](?=\w)[^.!?;\n]*)*[.!?;]*")
_PART = re.compile(
    r",\s+(?:and\s+|then\s+|but\s+)?|\s+(?:and|then|but)\s+(?:then\s+)?|\s+-+\s+|\s*[—–]\s*|\("
)
_LABEL = re.compile(r"\s*\[?([A-Za-z][\w /-]{0,30}?)\]?(?:\([^)\n]{0,60}\))?!?\s*:\s")
_WORD = re.compile(r"[a-z0-9][\w'’-]*")
_PATH = re.compile(
    r"(?<![\w:/])(?:[\w.-]+/)*[\w-]+\.([A-Za-z]\w{0,4})\b(?!\.\w)|(?<![\w:/])(?:[\w.-]+/)+[\w.-]*"
)
_NAME = re.compile(r"\b(?:\w+\(\)|[a-z0-9]+_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|\w+::\w+)")
_PROSE_FILES = frozenset(("md", "rst", "txt", "adoc", "docx", "pdf"))
_ARTICLE = re.compile(r" (?:the|these|those|both)(?= ((?:[\w-]+ ){1,2}))")
_MARKS = ".,:;!?()[]{}`'\"*<>"
# replaces it in reasons, which are logged and hold no word of a task
_CODE_POINTER = "a path or a name from code"
_PREPOSITIONS = frozenset(
    ("in", "for", "about", "as", "like", "with", "to", "over", "between", "from", "of")
)
_PRONOUNS = frozenset(("it", "this", "that", "them", "these", "those", "both", ""))
_NEGATIONS = ("don't", "do not", "dont", "never", "no need to", "not", "without")


class Opinion:
    """A class with its confidence, from 0 to 1, and the reasons for it."""

    def __init__(self, name: str, confidence: float, reasons: "tuple[str, ...]") -> None:
        self.name, self.confidence, self.reasons = name, confidence, reasons

    @property
    def writes_code(self) -> bool:
        """Whether records about writing code are useful."""
        return is_work_on_code(self.name, self.confidence)


def is_work_on_code(name: str, confidence: float) -> bool:
    """Say whether a class is sure, and that of tasks which write code."""
    return name == CODE_GEN and confidence >= SURE


def classify(text: str) -> Opinion:
    """Return the class of a task by its text."""
    normalised = _SPACES.sub(" ", text[:LONGEST].replace("’", "'"))
    plain = _QUOTED.sub("", _FENCE.sub("\n", normalised))
    evidence = _Evidence(plain)
    body = _weigh_label(plain, evidence)

    for sentence in _SENTENCE.findall(body)[:MOST_SENTENCES]:
        is_question = sentence.rstrip().endswith("?")
        for part in filter(str.strip, _PART.split(sentence, maxsplit=MOST_PARTS)):
            phrase = " ".join(part.split()).lstrip("-*#0123456789.) ")
            request, requested = _stripped(phrase.lower())
            if request:
                _weigh_part(
                    phrase[len(phrase) - len(request) :], request, requested, is_question, evidence
                )

    padded = f" {' '.join(_WORD.findall(plain.lower()))} "
    for phrase in _words()["phrases"]:
        for words in phrase["words"]:
            if f" {words} " in padded:
                evidence.add(phrase["class"], phrase["weight"], f"says `{words}`")

    return evidence.opinion()


class _Evidence:
    def __init__(self, text: str) -> None:
        self._text = text
        self._subject: tuple[str, str] | None = None
        self.weights = dict.fromkeys(CLASSES, 0.0)
        self.reasons: list[tuple[float, str]] = []

    def add(self, name: str, weight: float, reason: str) -> None:
        self.weights[name] += weight
        self.reasons.append((weight, f"{name} {weight:+g}: {reason}"))

    @property
    def subject(self) -> tuple[str, str]:
        """What `it` refers to: the first noun of code or prose in the whole text."""
        if self._subject is None:
            self._subject = _nearest_noun(self._text)

        return self._subject

    def opinion(self) -> Opinion:
        weights = {name: max(weight, 0.0) for name, weight in self.weights.items()}
        if weights[CODE_GEN] >= 3:  # a change with an explanation is a change
            weights = {
                name: weight if name == CODE_GEN else min(weight / 3, 1)
                for name, weight in weights.items()
            }

        order = sorted(CLASSES, key=lambda name: -weights[name])  # ties in the order of CLASSES
        first, second = weights[order[0]], weights[order[1]]
        weighed = sorted(self.reasons, key=lambda entry: -abs(entry[0]))[:MOST_REASONS]
        reasons = tuple(reason for _, reason in weighed)

        if first == 0:
            return Opinion("other", 0.0, reasons or ("no word is known",))

        return Opinion(order[0], first / (first + second + 1), reasons)


_loaded: "dict[str, Any]" = {}


def _words() -> "dict[str, Any]":
    """Return the tables of task_class.toml: openings by length, nouns with their endings,
    labels and verbs by word.
    """
    if _loaded:
        return _loaded

    file = f"{__file__.rpartition('/')[0]}/task_class.toml"
    data = tomllib.loads(content_of(file, LARGEST).decode())

    for name in ("requests", "fillers"):
        data[name].sort(key=len, reverse=True)

    for name in ("code_nouns", "prose_nouns", "general_nouns"):
        data[name] = frozenset(_endings(data[name]))

    for name in ("labels", "verbs", "questions"):
        by_word: dict[str, str] = {}
        for meaning, words in data[name].items():
            by_word |= dict.fromkeys(words, meaning)

        data[name] = by_word

    data["questions"] = sorted(data["questions"].items(), key=lambda question: -len(question[0]))
    _loaded.update(data)
    return _loaded


def _endings(words: "Iterable[str]") -> "Iterator[str]":
    for word in words:
        yield word.rstrip("*")
        if word.endswith("*"):
            yield from (word[:-1] + ending for ending in ("s", "es", "ed", "ing"))


def _weigh_label(text: str, evidence: "_Evidence") -> str:
    """Weigh the word before the first colon of a title; return the text after it."""
    match = _LABEL.match(text)
    if match is None:
        return text

    name = _words()["labels"].get(match[1].strip().lower())
    if name is not None:
        evidence.add(name, 4, f"the title begins with `{match[1].strip()}:`")
    elif len(match[1].split()) > 3:
        return text

    return text[match.end() :]


def _stripped(text: str) -> tuple[str, bool]:
    words = _words()
    openings = [
        *dict.fromkeys(words["requests"], True).items(),
        *dict.fromkeys(words["fillers"], False).items(),
    ]
    requested = False
    while opening := next(
        ((start, request) for start, request in openings if _begins(text, start)), None
    ):
        text, requested = _after(text, opening[0]), requested or opening[1]

    return text, requested


def _begins(text: str, start: str) -> bool:
    return text.startswith(start) and not text[len(start) : len(start) + 1].isalnum()


def _after(text: str, start: str) -> str:
    return text[len(start) :].lstrip(" ,:")


def _weigh_part(
    part: str, text: str, requested: bool, is_question: bool, evidence: "_Evidence"
) -> None:
    # What a person asks not to do is no request.
    if any(_begins(text, start) for start in _NEGATIONS):
        return

    if not requested:
        for start, name in _words()["questions"]:
            if _begins(text, start) and (is_question or name != "unknown" or start in _OPEN):
                _weigh_question(part, text, start, name, evidence)
                return

    verb = _first(text)
    kind = _words()["verbs"].get(verb)
    if kind is None and requested:
        code, prose = _nearest_noun(part, far=False)
        if code or prose:
            evidence.add(CODE_GEN if code else "other", 2, f"asks for {code or prose}")
    elif kind is None and is_question:
        evidence.add("qa", 2, "a question")
    elif kind is not None:
        _weigh_request(part, part[len(verb) :].lstrip(" ,:"), verb, kind, evidence)


_OPEN = frozenset(("what", "what's", "why", "how", "which", "who", "when"))
"""Words that begin a question even without a question mark."""


def _first(text: str) -> str:
    match = _WORD.match(text)
    if match is not None:
        return match[0]

    return ""


def _weigh_question(part: str, text: str, start: str, name: str, evidence: "_Evidence") -> None:
    here = _is_here(part, text)
    if name == "unknown":
        name = "exploration" if here else "qa"
    elif name == "qa" and here and _code_pointer(part):
        name = "exploration"
    evidence.add(
        "exploration" if name == "exploration" else "qa", 3, f"a question: `{start}`{here}"
    )


def _weigh_request(
    part: str, object_text: str, verb: str, kind: str, evidence: "_Evidence"
) -> None:
    if kind in (CODE_GEN, "either"):
        near = re.split(r"\b(?:for|about)\b", object_text, maxsplit=1)[0]
        code, prose = _nearest_noun(near)
        if not (code or prose) and _first(object_text.lower()) in _PRONOUNS:
            code, prose = evidence.subject

        if prose:
            evidence.add("other", 3, f"asks to `{verb}` prose: {prose}")
        elif code or kind == CODE_GEN:
            subject = f" code: {code}" if code else ""
            evidence.add(CODE_GEN, 3, f"asks to `{verb}`{subject}")
    elif kind == "tell":
        _, prose = _nearest_noun(object_text, far=False)
        here = _is_here(part, object_text.lower())
        if prose and not here:
            evidence.add("other", 3, f"asks to `{verb}` prose: {prose}")
        else:
            evidence.add("exploration" if here else "qa", 3, f"asks to `{verb}`{here}")
    else:
        evidence.add("exploration" if kind == "exploration" else "other", 3, f"asks to `{verb}`")


def _nearest_noun(text: str, far: bool = True) -> tuple[str, str]:
    """Of nouns in a row the last decides: an email validator is code, a test plan is prose."""
    prose_nouns = _words()["prose_nouns"]
    raw_words = text.split()
    for index, raw in enumerate(raw_words):
        word = raw.strip(_MARKS).lower()
        if not far and index and word in _PREPOSITIONS:
            break

        point = _code_pointer(raw)
        if point:
            ending = point.rpartition(".")[2].lower()
            is_prose = ending in _PROSE_FILES or point.lower().startswith("docs/")
            if is_prose:
                return ("", _CODE_POINTER)

            return (_CODE_POINTER, "")

        if word in prose_nouns or _code(word):
            for following in raw_words[index + 1 :]:
                name = following.lower().strip(_MARKS)
                if raw[-1:] in _MARKS or not (name in prose_nouns or _code(name)):
                    break
                raw, word = following, name
            if word in prose_nouns:
                return ("", word)

            return (_code(word), "")

    return "", ""


def _code(word: str) -> str:
    return next(
        (piece for piece in (word, *word.split("-")) if piece in _words()["code_nouns"]), ""
    )


def _is_here(part: str, text: str) -> str:
    """Return words on what of this project a part names; empty if nothing."""
    pointer = _code_pointer(part)
    if pointer:
        return f" about {_CODE_POINTER}"

    padded = f" {' '.join(_WORD.findall(text))} "
    for words in _words()["here"]:
        if f" {words} " in padded:
            return f" about `{words}`"

    for article in _ARTICLE.finditer(padded):
        for word in article[1].split():
            if word in _words()["code_nouns"] and word not in _words()["general_nouns"]:
                return f" about the {word}"

    return ""


def _code_pointer(part: str) -> str:
    not_places = _words()["not_places"]
    for form in (_PATH, _NAME):
        for match in form.finditer(part):
            if match[0].lower().strip("./") not in not_places:
                return match[0]

    return ""
