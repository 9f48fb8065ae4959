"""Secrets in texts: one regular expression finds where one may be, and the forms of `secrets.yaml`
decide.
"""

import base64
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any

from orbit_registry.formats.needles import needles_in, needles_of
from orbit_registry.formats.yaml import table_of


@dataclass(frozen=True, slots=True)
class Suspect:
    """A span of a text that holds a secret, and its kind; the text itself is never shown."""

    kind: str
    start: int
    end: int


_TABLE: Mapping[str, Any] = table_of(__file__, "secrets.yaml")
_LONGEST_BODY = 4_000
_GROUP = re.compile(r"\?P<(\w+)>")


@dataclass(frozen=True, slots=True)
class _Form:
    """What a secret of one kind looks like."""

    kind: str
    pattern: str
    needles: tuple[str, ...]
    """What each of them has a part of; each begins with a plain character."""
    value: str = ""
    """How its value is judged; empty: the form is proof."""


def _forms() -> Iterator[_Form]:
    for row in _TABLE["prefixes"]:
        prefix = row["prefix"]
        body = f"(?P<body>[{row['body']}]{{{row['least']},{_LONGEST_BODY}}})"
        needle = row.get("needle") or f"{re.escape(prefix[-1])}(?<={re.escape(prefix)})"
        value = "" if row.get("proof") else "body"
        form = rf"{re.escape(prefix)}{body}(?![A-Za-z0-9])"
        yield _Form(row["kind"], form, (needle,), value)

    for row in _TABLE["forms"]:
        needle = row["needle"]
        needles = (needle,) if isinstance(needle, str) else tuple(needle)
        yield _Form(row["kind"], row["form"], needles, row.get("value", ""))


_FORMS = tuple(_forms())
_BY_NAME = {"quoted": "secret by its name", "plain": "secret by its name", "bearer": "bearer token"}
KINDS = frozenset(form.kind for form in _FORMS) | frozenset(_BY_NAME.values())
"""Kinds of secrets, as `docs/reference/checks/content.md` lists them."""


def _rarest(word: str) -> int:
    """Return the position of the letter of a word that fewest texts have."""
    return min(range(len(word)), key=lambda at: _RARE.find(word[at]))


_RARE = "zqxjkvbpygfwmucldrhsnioate"
"""Letters, rare ones first; a letter of another script is rarer than all."""


def _name_ends() -> Iterator[str]:
    """Yield how names of secret values end, each from a rare letter on, in both cases."""
    for row in _TABLE["names"]:
        word = row["word"]
        at = _rarest(word)
        seen = rf"(?<=(?i:{re.escape(word)}))"
        if row.get("whole"):
            capital = re.escape(word.capitalize())
            seen += rf"(?:(?<![^\W\d_](?i:{re.escape(word)}))|(?<=[a-z]{capital}))"

        for letter in sorted({word[at].lower(), word[at].upper()}):
            yield rf"{re.escape(letter)}(?i:{re.escape(word[at + 1 :])}){seen}"

    seen = r"(?:(?<=[A-Za-z0-9](?i:key))|(?<=[A-Za-z0-9][_ .-](?i:key)))"
    yield from (f"k(?i:ey){seen}", f"K(?i:ey){seen}")


_ENDS = "|".join(_TABLE["name_ends"])
_COPULAS = "|".join(_TABLE["copulas"])
_GLUED = "|".join(_TABLE["glued_copulas"])
_ENDING = rf"s?(?:[_-]?(?i:{_ENDS})(?![A-Za-z]))?(?:[_-]?[vV]?[0-9]{{1,2}})?"
_TYPE = r":[ \t]?[A-Za-z][\w.\[\]|]{0,23}[ \t]{0,4}=|[ \t]string[ \t]="
_SEPARATOR = (
    r"(?:[\]\\\"'`*]{0,4}[ \t]{0,4}(?:[(\uff08][^()\n\uff08\uff09]{1,30}[)\uff09][ \t]?)?"
    rf"(?:{_TYPE}|[:=\uff1a\uff1d]{{1,3}}>?|->|[\u2013\u2014]|(?:{_COPULAS})\b|{_GLUED})"
    r"[*]{0,2}(?:[ \t]{0,4}[|>][+-]?(?=[ \t]{0,4}\n))?\s{0,9}"
    r"|[\"']?,?\s{1,40}[\"']?(?i:value)[\"']?[ \t]?[:=]\s{0,4}"
    r"|[\"'],[ \t]{0,4}(?=[\"'])"
    r"|[ \t*`]{0,6}\|[ \t*]{0,6}|[ \t](?=[^\s:=|]{10}))[\u201c\u201e\u00ab\u300c]?"
)
"""What is between a name and its value: `:`, `=`, `is`, `value:`, a comma, the edge of a cell."""
_NEAR_VALUE = (
    r"[\w-]{0,16}[\]\\\"'`*]{0,4}\s{0,40}"
    r"(?:[:=,|\uff1a\uff1d\u2013\u2014(\uff08]|->|(?<=[ \t])[^\s:=|]{10}"
    rf"|string\b|[\"']?(?i:value)\b|(?:{_COPULAS})\b|{_GLUED})"
)
"""What follows a name, roughly: a pattern of it all would take long to compile."""
_BEARER = r"[Ee](?i:arer)[ \t]{1,4}"
_CLOSING = r"\u201d\u201c\u00bb\u300d\u3002\uff0c\u3001\uff1b\uff09"
_PLAIN_CHARACTER = rf"[^\s\"'`\\,;<>()\[\]{{}}|{_CLOSING}]"
_VALUE = (
    r"@?\\?(?P<quote>[\"'`])(?P<quoted>[^\s\"'`\\]{8,200})\\?(?P=quote)"
    rf"|(?P<plain>{_PLAIN_CHARACTER}{{8,200}})(?=[\s\"'`\\,;<|)\]}}{_CLOSING}]|\Z)"
)
_BEARER_VALUE = r"(?P<bearer>[A-Za-z0-9._~+/-]{16,4000}=*)"


def _grouped(needles: Iterable[str]) -> str:
    """Return a pattern of all needles in which each first character is tried once."""
    groups: dict[str, list[str]] = {}
    for needle in needles:
        length = 2 if needle.startswith("\\") else 1
        groups.setdefault(needle[:length], []).append(needle[length:])

    return "|".join(f"{first}(?:{'|'.join(rests)})" for first, rests in groups.items())


_NAMED = (
    rf"(?:{_grouped(_name_ends())})(?P<ending>{_ENDING}){_SEPARATOR}(?:{_VALUE})",
    rf"[bB]{_BEARER}{_BEARER_VALUE}",
)
"""`password = '…'`, `API_KEY=…`, and `Authorization: Bearer …`; `_is_random` judges the value.

A pattern of both would be tried at each character, not only at those that it can begin with: that
takes four times as long.
"""


_FORM_NEEDLES = _grouped(chain.from_iterable(form.needles for form in _FORMS))
_NAME_NEEDLES = f"(?:{_grouped(_name_ends())}){_NEAR_VALUE}", f"[bB]{_BEARER}"
"""Two patterns: only one that begins with its alternatives is looked for by their first letters."""


_NAME_PARTS = needles_of(["key", "bearer", *(row["word"].lower() for row in _TABLE["names"])])
"""What a text has, in lower case, where a name of a secret value may be in it."""
_compiled = cache(re.compile)
"""Patterns are compiled where they are used: few runs need them, and fewer need all."""


def may_hold_secret(text: str) -> bool:
    """Say whether a text has a sign of a secret; `find_secrets` says whether it is one.

    A search stops at each character that an alternative begins with, so they begin with rare ones
    and look back. Most texts have no part of a name, and need none of the names' patterns.
    """
    if _compiled(_FORM_NEEDLES).search(text):
        return True

    if text.isascii() and not needles_in(text.lower(), _NAME_PARTS):
        return False

    return any(_compiled(needles).search(text) for needles in _NAME_NEEDLES)


_LEAST_OF_FORM = 2.3
"""Least entropy of a value that is judged: made-up tokens repeat a character."""
_RFC_EXAMPLE = "Aladdin:open sesame"
_QUOTED, _PLAIN = 2.7, 3.0  # least entropy of a quoted and of a bare value
_ELIDED = re.compile(r"[A-Za-z0-9+/=\s\\]{0,128}(?:\.\.|…|[\[<(*])")
"""What follows the first line of a private key that a document shortens."""


def _any_of(name: str) -> str:
    return "(?i)" + "|".join(_TABLE[name])


_EXAMPLE = "|".join((_any_of("examples"), *_TABLE["url_examples"]))
_HARMLESS_VALUE = _any_of("harmless_values")
_TERM = rf"(?i)(?<![A-Za-z0-9])(?:{'|'.join(_TABLE['terms'])})"


_IN_BASE_64 = re.compile(r"(?<![A-Za-z0-9+/])(?:[A-Za-z0-9+/]{4}){5,400}(?:[A-Za-z0-9+/]{2,3})?")


def find_secrets(text: str) -> Iterator[Suspect]:
    """Yield the secrets in a text.

    Made-up examples are none: `EXAMPLE`, `xxxxxx`, `$VARIABLE`, `MIIE…`.
    """
    if may_hold_secret(text):
        yield from _suspects(text)


def _suspects(text: str) -> Iterator[Suspect]:
    forms = list(_with_form(text))
    suspects = list(forms)
    for name in _with_name(text):
        if not any(name.start < form.end and form.start < name.end for form in forms):
            suspects.append(name)

    end = 0
    for suspect in sorted(suspects, key=lambda hit: (hit.start, -hit.end)):
        if suspect.start >= end:
            yield suspect
            end = suspect.end


def disguised_secrets(text: str) -> Iterator[str]:
    """Yield the kinds of the secrets by their form that a text shows and does not spell: with marks
    or invisible characters between, as entities, in wide letters, in base 64.
    """
    from orbit_registry.formats.letters import as_seen
    from orbit_registry.formats.wording import without_markup

    shown = [as_seen(without_markup(text))]
    for match in _IN_BASE_64.finditer(text):
        decoded = base64.b64decode(match[0] + "=" * (-len(match[0]) % 4))
        if decoded.isascii():
            shown.append(decoded.decode("ascii"))

    suspects = chain.from_iterable(map(_with_form, shown))
    kinds = dict.fromkeys(suspect.kind for suspect in suspects)
    if kinds:
        spelled = {suspect.kind for suspect in _with_form(text)}
        yield from (kind for kind in kinds if kind not in spelled)


def _with_form(text: str) -> Iterator[Suspect]:
    """Yield what has a form; a form is looked for only where a part of it is."""
    if not _compiled(_FORM_NEEDLES).search(text):
        return

    for form in _FORMS:
        if _compiled("|".join(form.needles)).search(text):
            yield from _of_form(form, text)


def _of_form(form: _Form, text: str) -> Iterator[Suspect]:
    for match in _compiled(rf"{_START}(?:{form.pattern})").finditer(text):
        if re.search(_EXAMPLE, match[0]):
            continue
        if form.kind == "private key" and _ELIDED.match(text, match.end()):
            continue

        groups = match.groupdict().items()
        value = next((group for name, group in groups if name in _VALUES and group), match[0])
        if _JUDGES[form.value](value):
            yield Suspect(form.kind, match.start(), match.end())


def _is_harmless(value: str) -> bool:
    """Say whether a value is an example, a variable, a path or a public key."""
    return bool(re.search(_EXAMPLE, value) or re.search(_HARMLESS_VALUE, value))


def _is_mixed(value: str) -> bool:
    """Say whether a value has letters and digits, and not the same ones all the time."""
    has_both = bool(re.search(r"[0-9]", value)) and bool(re.search(r"[A-Za-z]", value))
    return has_both and _entropy(value) >= _LEAST_OF_FORM


def _is_body(value: str) -> bool:
    """Say whether what follows a prefix is mixed, and no name of code: `fw_updateAllTables2`."""
    return _is_mixed(value) and not _compiled(_NAME_OF_CODE).fullmatch(value)


def _is_given(value: str) -> bool:
    """Say whether a value that a command or a URL gives is mixed, and no example."""
    return _is_mixed(value) and not _is_harmless(value)


def _is_named(value: str) -> bool:
    """Say whether a value could be the secret that a name before it announces."""
    return len(value) >= _LEAST_OF_NAMED and not _is_harmless(value) and _is_random(value)


def _is_basic(value: str) -> bool:
    """Say whether a value is a name and a password in base 64, and no example."""
    try:
        words = base64.b64decode(value, validate=True).decode("ascii")
    except ValueError:
        return False

    is_example = words == _RFC_EXAMPLE or re.search(_EXAMPLE, f"://{words}@")
    return ":" in words and words.isprintable() and not is_example


def _is_token(value: str) -> bool:
    """Say whether the first two parts of a value are those of a JSON web token."""
    try:
        for part in value.split(".")[:2]:
            json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except ValueError:
        return False
    return True


_START = r"(?:(?<![A-Za-z0-9])|(?<=%[0-9A-F]{2}))"
"""Where a form may begin: after no letter or digit, but for that of an escape in a URL."""
_VALUES = tuple(dict.fromkeys(_GROUP.findall(" ".join(form.pattern for form in _FORMS))))
"""The groups of forms whose value is judged."""
_NAME_OF_CODE = r"(?:[_-]{0,3}+(?:[A-Z]?[a-z]++|[A-Z]{3,}+))++[_-]?[0-9]{1,2}"
"""Words in capitals, small letters or both, and a number."""
_LEAST_OF_NAMED = 8
_JUDGES: Mapping[str, Callable[[str], bool]] = {
    "": lambda value: True,
    "body": _is_body,
    "random": _is_given,
    "named": _is_named,
    "basic": _is_basic,
    "token": _is_token,
}


def _with_name(text: str) -> Iterator[Suspect]:
    for pattern in map(_compiled, _NAMED):
        at = 0
        while match := pattern.search(text, at):
            name = next(
                name for name, value in match.groupdict().items() if value and name in _BY_NAME
            )
            at = match.start(name)
            if _is_secret(text, match, name):
                at = match.end(name)
                yield Suspect(_BY_NAME[name], *match.span(name))


def _is_secret(text: str, match: re.Match[str], group: str) -> bool:
    """Say whether the value after a name is a secret."""
    value = match[group]
    if group == "plain":
        value = re.sub(r"&\w+=.*", "", value)
    if _is_harmless(value):
        return False

    if group != "bearer":
        is_next_line = "\n" in text[match.end("ending") : match.start(group)]
        if is_next_line and re.match(r"[\w.-]+[ \t]*[:=]", value):
            return False

        name = text[max(0, match.start() - _LONGEST_NAME) : match.start("ending")]
        if not _names_a_secret(name, value):
            return False

    is_said = _SAID.search(text, match.start(), match.start(group)) is not None
    if is_said and not _is_unspeakable(value):
        return False

    return _is_random(value, quoted=group == "quoted")


_LONGEST_NAME = 60
_KEY_WORDS = tuple(_TABLE["key_words"])
_HARMLESS_BEFORE: Mapping[str, Sequence[str]] = _TABLE["harmless_before"]
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_CAMEL = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+(?![a-z])")


def _names_a_secret(text: str, value: str) -> bool:
    """Say whether the name that a text ends with announces a secret.

    A name that ends in `key` needs a word before it: `SIGNING_KEY`, not `SORT_KEY`, not `monkey`.
    """
    if re.search(r"\b(?:arn:|AWS::)\S*\Z", text):
        return False

    name = re.search(r"[A-Za-z0-9_./-]+(?: [A-Za-z]+)?\Z", text)
    if name is None:
        return True

    words = [word.lower() for word in _CAMEL.findall(name[0])]
    before = words[-2] if len(words) > 1 else ""
    harmless = (*_HARMLESS_BEFORE.get(words[-1], ()), *_HARMLESS_BEFORE["any"])
    if before in harmless:
        return False

    if not text.lower().endswith("key"):
        return True

    is_spaced = text[-4:-3] == " "
    is_glued = len(words) < 2 or words[-1] != "key"
    if is_spaced or is_glued:
        joined = "".join(words).removesuffix("key")
        return joined.endswith(_KEY_WORDS)

    is_strong = before in _KEY_WORDS
    return is_strong or _UUID.fullmatch(value) is None


_SAID = re.compile(rf"(?:\b(?:{_COPULAS})|{_GLUED}|\w)[*]{{0,2}}\s{{0,4}}[\"'`]?$")
"""Before a value that a sentence names: `the token is …`, `use the password …`."""


def _is_unspeakable(value: str) -> bool:
    """Say whether a value is no word of a sentence, as `base64url` and `oauth2proxy` are."""
    runs = re.findall(r"[0-9]+|[A-Za-z]+", value)
    kinds = all(re.search(kind, value) for kind in (r"[0-9]", r"[A-Z]", r"[a-z]"))
    return len(runs) > 3 or (kinds and len(value) >= 14)


def _entropy(value: str) -> float:
    """Return the entropy of a text in bits a character."""
    shares = [count / len(value) for count in Counter(value).values()]
    return -sum(share * math.log2(share) for share in shares)


def _is_random(value: str, *, quoted: bool = True) -> bool:
    """Say whether letters follow digits, or both occur without a separator.

    The value must also have enough entropy, in bits a character.
    """
    least = _QUOTED if quoted else _PLAIN
    value = re.sub(_TERM, "", value.rstrip(".:?"))
    if not value or _entropy(value) < least:
        return False

    has_separator = re.search(r"[-_./:]", value) is not None
    if has_separator and _is_of_words(value):
        return False

    if any(re.search(r"[0-9][A-Za-z]", run) for run in re.findall(r"[A-Za-z0-9]{6,}", value)):
        return True

    has_all = all(re.search(kind, value) for kind in (r"[0-9]", r"[A-Z]", r"[a-z]"))
    if has_separator:
        return has_all and len(value) >= _LEAST_OF_PARTS

    has_both = re.search(r"[0-9]", value) is not None and re.search(r"[A-Za-z]", value) is not None
    if quoted:
        return has_both

    return has_all


_LEAST_OF_PARTS = 10
_LEAST_OF_WORDS = 3


def _is_of_words(value: str) -> bool:
    """Say whether the letters of a value make words, as in `team4b/db-prod`."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", value)
    if not words:
        return False

    return sum(map(len, words)) / len(words) >= _LEAST_OF_WORDS


def without_secrets(text: str) -> str:
    """Return a text with each secret replaced by its kind."""
    parts = []
    at = 0
    for suspect in find_secrets(text):
        if suspect.start < at:
            continue

        parts += [text[at : suspect.start], f"[redacted: {suspect.kind}]"]
        at = suspect.end
        if suspect.kind == "private key":
            at = _end_of_key(text, suspect.start)

    return "".join([*parts, text[at:]])


def _end_of_key(text: str, start: int) -> int:
    end = text.find("-----END ", start)
    if end < 0:
        return len(text)

    closing = text.find("-----", end + 9)
    if closing >= 0:
        return closing + 5

    return len(text)


_ESCAPES = ((r"\"", '"'), (r"\n", "\n"), (r"\r", "\r"), (r"\t", "\t"), (r"\\", "\\"))


def has_secret(value: object, text: str) -> bool:
    """Say whether a text within a value holds a secret; `text` is the value as ASCII JSON."""
    if "\\u" in text:  # an escape could hide a secret
        text = json.dumps(value, ensure_ascii=False)

    if not may_hold_secret(without_escapes(text)):
        return False

    # Lists of words are many texts: one search of all takes a tenth of one each.
    return any(_suspects("\n".join(_texts(value))))


def without_escapes(text: str) -> str:
    """Return JSON in which the signs that may be between a name and its value are one again."""
    for escape, sign in _ESCAPES:
        text = text.replace(escape, sign)

    return text


def _texts(value: object) -> Iterator[str]:
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, list):
            pending += part
        elif isinstance(part, dict):
            pending += (*part, *part.values())
