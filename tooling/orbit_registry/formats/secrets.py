"""Secrets in texts: one regular expression finds where one may be, and the forms of `secrets.yaml`
decide.
"""

import base64
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from orbit_registry.formats.yaml import load


@dataclass(frozen=True, slots=True)
class Suspect:
    """A span of a text that holds a secret, and its kind; the text itself is never shown."""

    kind: str
    start: int
    end: int


_TABLE: Mapping[str, Any] = cast(
    "Mapping[str, Any]", load(Path(__file__).with_name("secrets.yaml").read_text("utf-8"))
)
_LONGEST_BODY = 4_000


@dataclass(frozen=True, slots=True)
class _Form:
    """What a secret of one kind looks like."""

    kind: str
    pattern: str
    value: str = ""
    """How its value is judged; empty: the form is proof."""


def _forms() -> Iterator[_Form]:
    for row in _TABLE["prefixes"]:
        body = f"[{row['body']}]{{{row['least']},{_LONGEST_BODY}}}"
        value = "" if row.get("proof") else "body"
        yield _Form(row["kind"], rf"{re.escape(row['prefix'])}{body}(?![A-Za-z0-9])", value)
    for row in _TABLE["forms"]:
        yield _Form(row["kind"], row["form"], row.get("value", ""))


_FORMS = tuple(_forms())
_BY_NAME = {"quoted": "secret by its name", "plain": "secret by its name", "bearer": "bearer token"}
KINDS = frozenset(form.kind for form in _FORMS) | frozenset(_BY_NAME.values())
"""Kinds of secrets, as `docs/reference/checks/content.md` lists them."""
_GROUPS = "|".join(f"(?P<f{number}>{form.pattern})" for number, form in enumerate(_FORMS))
_PREFILTER = rf"(?<![A-Za-z0-9])(?:{_GROUPS})"
"""Compiled where it is used: few runs need it."""
_KEY = (
    r"(?<=(?i:api|uth|ess|ent|ret|ate|unt|ice)[_ "
    r"-](?i:key))|(?<=(?i:api|uth|ess|ent|ret|ate|unt|ice)(?i:key))"
)
_NAMES = {
    "w": r"(?i:ord)(?<=(?i:password))|(?i:d)(?:(?<=(?i:passwd))|(?<=(?i:pwd)))",
    "c": r"(?i:ret)(?<=(?i:secret))",
    "k": rf"(?i:en)(?<=(?i:token))|(?i:ey)(?:{_KEY})",
}
"""How names of secret values end, by a rare letter: `db_password`, `PGPASSWORD`, `githubToken`."""
_SEPARATOR = r"[\]\\\"'`*]{0,4}[ \t]{0,4}(?:[:=]{1,3}>?|is\b)[*]{0,2}\s{0,4}"
_ASSIGNED = (
    *(f"{letter}(?:{tail}){_SEPARATOR}" for letter, tail in _NAMES.items()),
    *(f"{letter.upper()}(?:{tail}){_SEPARATOR}" for letter, tail in _NAMES.items()),
)
_BEARER = r"[Ee](?i:arer)[ \t]{1,4}"
_VALUE = (
    r"@?\\?(?P<quote>[\"'`])(?P<quoted>[^\s\"'`\\]{8,200})\\?(?P=quote)"
    r"|(?P<plain>[^\s\"'`\\,;<>()\[\]{}|$]{8,200})(?=[\s\"'`\\,;<]|\Z)"
)
_BEARER_VALUE = r"(?P<bearer>[A-Za-z0-9._~+/-]{16,4000}=*)"
_NAMED = rf"(?:{'|'.join(_ASSIGNED)})(?:{_VALUE})|[bB]{_BEARER}{_BEARER_VALUE}"
"""`password = '…'`, `API_KEY=…`, `Authorization: Bearer …`; `_is_random` judges the value."""


def _needles() -> Iterator[str]:
    """Yield what every secret has a part of, each beginning with a plain character."""
    for row in _TABLE["prefixes"]:
        prefix = row["prefix"]
        yield row.get("needle") or f"{re.escape(prefix[-1])}(?<={re.escape(prefix)})"

    for row in _TABLE["forms"]:
        needle = row["needle"]
        yield from needle if isinstance(needle, list) else [needle]

    yield from (f"b{_BEARER}", f"B{_BEARER}", *_ASSIGNED)


def _grouped(needles: Iterable[str]) -> str:
    """Return a pattern of all needles in which each first character is tried once."""
    groups: dict[str, list[str]] = {}
    for needle in needles:
        length = 2 if needle.startswith("\\") else 1
        groups.setdefault(needle[:length], []).append(needle[length:])

    return "|".join(f"{first}(?:{'|'.join(rests)})" for first, rests in groups.items())


NEEDLES = re.compile(_grouped(_needles()))
"""A part that every secret has.

A search stops at each character that an alternative begins with, so they begin with rare ones and
look back.
"""
_LEAST_OF_FORM = 2.3
"""Least entropy of a value that is judged: made-up tokens repeat a character."""
_RFC_EXAMPLE = "Aladdin:open sesame"
_ZEROS = re.compile("0{8}")
_QUOTED, _PLAIN = 2.7, 3.0  # least entropy of a quoted and of a bare value
_ELIDED = re.compile(r"[A-Za-z0-9+/=\s\\]{0,128}(?:\.\.|…|[\[<(*])")
"""What follows the first line of a private key that a document shortens."""
_PLACEHOLDER = (
    r"(?i)example|placeholder|redacted|your[-_ "
    r"]|changeme|\bdummy|\bfake|x{6}|\*{3}|\.{3}|0{16}|://[^/]*[$%<{]"
    r"|://(?P<user>[^/:]{1,64}):(?:(?P=user)|pass(?:word|wd)?|pw|pwd|secret|token|x+|user|\w)@"
    r"|\A[\W\d]{0,8}(?:my)?(?:pass(?:word)?|secret|token|test|admin|user)[\W\d]{0,4}\Z"
)


def find_secrets(text: str) -> Iterator[Suspect]:
    """Yield the secrets in a text.

    Made-up examples are none: `EXAMPLE`, `xxxxxx`, `$VARIABLE`, `MIIE…`.
    """
    if not NEEDLES.search(text):
        return

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


def _with_form(text: str) -> Iterator[Suspect]:
    for match in re.finditer(_PREFILTER, text):
        form = _FORMS[int(str(match.lastgroup)[1:])]
        if re.search(_PLACEHOLDER, match[0]):
            continue
        if form.kind == "private key" and _ELIDED.match(text, match.end()):
            continue

        value = next((match[name] for name in _VALUES if match[name] is not None), match[0])
        if _JUDGES[form.value](value):
            yield Suspect(form.kind, match.start(), match.end())


def _is_mixed(value: str) -> bool:
    """Say whether a value has letters and digits, and not the same ones all the time."""
    has_both = bool(re.search(r"[0-9]", value)) and bool(re.search(r"[A-Za-z]", value))
    is_option = re.match(r"(?:id|type|src|source|env|file)[=:]", value)
    return has_both and is_option is None and _entropy(value) >= _LEAST_OF_FORM


def _is_basic(value: str) -> bool:
    """Say whether a value is a name and a password in base 64, and no example."""
    try:
        words = base64.b64decode(value, validate=True).decode("ascii")
    except ValueError:
        return False

    is_example = words == _RFC_EXAMPLE or re.search(_PLACEHOLDER, f"://{words}@")
    return ":" in words and words.isprintable() and not is_example


def _is_token(value: str) -> bool:
    """Say whether the first two parts of a value are those of a JSON web token."""
    try:
        for part in value.split(".")[:2]:
            json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except ValueError:
        return False
    return True


_VALUES = ("source", "signature", "basic", "option", "short", "user", "other")
"""The groups of forms whose value is judged."""
_JUDGES: Mapping[str, Callable[[str], bool]] = {
    "": lambda value: True,
    "body": _is_mixed,
    "random": _is_mixed,
    "basic": _is_basic,
    "token": _is_token,
}


def _with_name(text: str) -> Iterator[Suspect]:
    for match in re.finditer(_NAMED, text):
        name = next(name for name in _BY_NAME if match[name] is not None)
        value = match[name]
        is_example = re.search(_PLACEHOLDER, value) or _ZEROS.search(value)
        is_said = _SAID.search(text, match.start(), match.start(name)) is not None
        if is_said and not _is_unspeakable(value):
            continue
        if _is_random(value, quoted=name == "quoted") and not is_example:
            yield Suspect(_BY_NAME[name], *match.span(name))


_SAID = re.compile(r"\bis[*]{0,2}\s{0,4}[\"'`]?$")
"""Before a value that a sentence names: `the token is …`."""


def _is_unspeakable(value: str) -> bool:
    """Say whether a value is no word of a sentence, as `base64url` and `oauth2proxy` are."""
    runs = re.findall(r"[0-9]+|[A-Za-z]+", value)
    kinds = all(re.search(kind, value) for kind in (r"[0-9]", r"[A-Z]", r"[a-z]"))
    return len(runs) > 3 or (kinds and len(value) >= 14)


def _entropy(value: str) -> float:
    """Return the entropy of a text in bits a character."""
    shares = [count / len(value) for count in Counter(value).values()]
    return -sum(share * math.log2(share) for share in shares)


def _is_random(value: str, *, quoted: bool) -> bool:
    """Say whether letters follow digits, or both occur without a separator.

    The value must also have enough entropy, in bits a character.
    """
    least = _QUOTED if quoted else _PLAIN
    if _entropy(value) < least:
        return False

    if any(re.search(r"[0-9][A-Za-z]", run) for run in re.findall(r"[A-Za-z0-9]{6,}", value)):
        return True

    if re.search(r"[-_./:]", value):
        return False

    kinds = [r"[0-9]", r"[A-Za-z]"] if quoted else [r"[0-9]", r"[A-Z]", r"[a-z]"]
    return all(re.search(kind, value) for kind in kinds)


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
    return closing + 5 if closing >= 0 else len(text)


def has_secret(value: object, text: str) -> bool:
    """Say whether a text within a value holds a secret; `text` is the value as ASCII JSON."""
    if "\\u" in text:  # an escape could hide a secret
        text = json.dumps(value, ensure_ascii=False)
    if NEEDLES.search(text) is None:
        return False

    return any(any(find_secrets(part)) for part in _texts(value))


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
