"""Unwritten decisions: what a change brings that looks like one, and that no record explains.

Two lists of signs go in, of the tree before and after, and the records that explain; at most three
candidates come out, the strongest first. Each has the command that starts its record.
"""

import posixpath
import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, cast

from orbit_registry.errors import listed
from orbit_registry.formats import yaml
from orbit_registry.lifecycle.signs import Sign, SignKind
from orbit_registry.model.record import Record
from orbit_registry.search.rejected import is_common_word

MOST = 3
"""Candidates of one change: more is a list that people learn to skip."""
MOST_NAMES = 5
"""Names of one candidate that are shown."""

_WEIGHTS = {
    SignKind.SERVICE: 5,
    SignKind.LICENCE: 3,
    SignKind.PERMISSION: 5,
    SignKind.SCHEMA: 5,
    SignKind.FOLDER: 3,
    SignKind.DEPENDENCY: 2,
}
"""How strong a sign is whose subject is not in the list; the list has weights from 4 to 9."""

_WHAT = {
    SignKind.DEPENDENCY: ("new dependency", "new dependencies"),
    SignKind.SERVICE: ("new service", "new services"),
    SignKind.FOLDER: ("new package", "new packages"),
    SignKind.SCHEMA: ("first schema of its type", "first schemas of their types"),
    SignKind.LICENCE: ("new licence", "new licences"),
    SignKind.PERMISSION: ("new permission of a workflow", "new permissions of a workflow"),
}
"""How a reason calls a sign, and several ones."""
_TITLES = {
    SignKind.FOLDER: "Give {} a package",
    SignKind.SCHEMA: "Describe data and interfaces with {}",
    SignKind.LICENCE: "License the project under {}",
    SignKind.PERMISSION: "Let a workflow have {}",
}
_PACKAGES = (SignKind.DEPENDENCY, SignKind.SERVICE)

_VERSION = re.compile(r"/v\d+$|\.v\d+$")
_HOST = re.compile(r"^(?:github|gitlab|bitbucket)\.com/|^(?:go|golang)\.[\w.]+/")
_AFFIX = re.compile(
    r"^(?:go|py|python|node|lib|ruby|php)-|-(?:go|py|python|rs|ruby|js|node|client|server|binary"
    r"|sdk|driver|core|cli)$|[.-]js$"
)
_WORD = re.compile(r"[A-Z]?[^\W_A-Z]+|[A-Z]+(?![^\W_A-Z])|[@+#]+")
"""The words of a name: of `RabbitMQ` they are Rabbit and MQ."""
_MAIN_WORDS = "app cli client common core js node react sdk server vue"
_MAIN = frozenset(_MAIN_WORDS.split())
"""Packages of a scope that people call by the scope: `@nestjs/core` is NestJS."""
_ADOPTING = r"(?:adopt|choose|introduce|pick|use|using|to|on|with)"


@dataclass(frozen=True, slots=True)
class Subject:
    """What people decide on by name, its role as the end of a title, and how strong it is."""

    name: str
    role: str
    weight: int
    is_for_development: bool
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A decision that a change seems to make: why it seems so, and the files that show it."""

    names: tuple[str, ...]
    """As people write them: `RabbitMQ`."""
    role: str
    weight: int
    signs: tuple[Sign, ...]

    @property
    def kind(self) -> SignKind:
        """What its first sign is."""
        return self.signs[0].kind

    @property
    def reason(self) -> str:
        """What is new, in words."""
        parts: list[str] = []
        for kind in dict.fromkeys(sign.kind for sign in self.signs):
            names = dict.fromkeys(sign.name for sign in self.signs if sign.kind is kind)
            what = _WHAT[kind][len(names) > 1]
            parts.append(f"{what}: {listed(list(names), MOST_NAMES)}")

        return "; ".join(parts)

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that show it."""
        return tuple(dict.fromkeys(sign.path for sign in self.signs))

    @property
    def place(self) -> str:
        """Where it shows first, as `path:line`, and in how many more files."""
        first = self.signs[0]
        where = f"{first.path}:{first.line}" if first.line else first.path
        others = len(self.paths) - 1
        return f"{where} and {others} more" if others else where

    @property
    def title(self) -> str:
        """The title that the record may have."""
        names = _joined(self.names[:MOST_NAMES])
        template = _TITLES.get(self.kind, "Use {}")
        return f"{template.format(names)} {self.role}".strip()

    @property
    def command(self) -> str:
        """The command that starts the record."""
        words = ["orbit", "adr", "new", "--title", self.title]
        for glob in self._globs:
            words += "--path", glob
        for name in self._uses:
            words += "--uses", name

        return shlex.join(words)

    @property
    def _globs(self) -> list[str]:
        """The files that the record is about; those that import a package are told by its name."""
        globs: dict[str, None] = {}
        for sign in self.signs:
            if sign.kind is SignKind.FOLDER:
                globs[f"{sign.name}/**"] = None
            elif sign.name == "SQL migrations":
                globs[f"{posixpath.dirname(sign.path)}/**"] = None
            elif sign.kind is not SignKind.DEPENDENCY:
                globs[sign.path] = None

        return list(globs)[:MOST_NAMES]

    @property
    def _uses(self) -> list[str]:
        uses = (_module(sign) for sign in self.signs if sign.kind is SignKind.DEPENDENCY)
        return list(dict.fromkeys(uses))[:MOST_NAMES]

    def as_data(self) -> dict[str, object]:
        """Return it as JSON shows it."""
        return {
            "names": list(self.names),
            "kind": self.kind.value,
            "reason": self.reason,
            "title": self.title,
            "files": [{"path": sign.path, "line": sign.line or None} for sign in self.signs],
            "command": self.command,
        }


@dataclass(frozen=True)
class Known:
    """What a tree has already, by the ways in which a new sign may be no news."""

    signs: Sequence[Sign]

    @cached_property
    def names(self) -> frozenset[tuple[SignKind, str]]:
        """The signs by kind and name."""
        return frozenset(map(key_of, self.signs))

    @cached_property
    def places(self) -> frozenset[tuple[SignKind, str, str]]:
        """The signs by kind, name and file."""
        return frozenset((sign.kind, sign.name, sign.path) for sign in self.signs)

    @cached_property
    def subjects(self) -> frozenset[str]:
        """The names of the subjects of its packages and services."""
        packages = [sign for sign in self.signs if sign.kind in _PACKAGES]
        subjects = (subject_of(sign) for sign in packages)
        return frozenset(subject.name for subject in subjects if subject is not None)

    @cached_property
    def families(self) -> frozenset[str]:
        """The families of its packages, and of the project's own."""
        kinds = (SignKind.DEPENDENCY, SignKind.OWN)
        names = [plain_name(sign.name) for sign in self.signs if sign.kind in kinds]
        families = {_family(name) for name in names}
        return frozenset((families | set(names)) - {""})


def added(before: Sequence[Sign], after: Sequence[Sign]) -> list[Sign]:
    """Return the signs that are news: no part of what was there, no move, no tool."""
    old, new = Known(before), Known(after)
    return [sign for sign in after if _is_news(sign, old, new)]


def unwritten(
    before: Sequence[Sign], after: Sequence[Sign], records: Iterable[Record]
) -> list[Candidate]:
    """Return what looks like a decision of a change and no record explains, the strongest first.

    The records have their prose; those that are closed explain nothing.
    """
    news = added(before, after)
    return candidates(unexplained(news, records))[:MOST] if news else []


def unexplained(signs: Sequence[Sign], records: Iterable[Record]) -> list[Sign]:
    """Return the signs that no record explains which is open or live."""
    texts = [_text_of(record) for record in records if record.phase != "closed"]
    text = "\n".join(texts)
    return [sign for sign in signs if not is_named(sign, text)]


def candidates(signs: Iterable[Sign]) -> list[Candidate]:
    """Return signs as candidates, the strongest first: one for each role."""
    groups: defaultdict[tuple[str, str], list[Sign]] = defaultdict(list)
    for sign in signs:
        subject = subject_of(sign)
        role = subject.role if subject is not None else ""
        kind = "" if role else sign.kind.value
        groups[role, kind].append(sign)

    rows = [candidate_of(group) for group in groups.values()]
    return sorted(rows, key=lambda candidate: -candidate.weight)


def candidate_of(signs: Iterable[Sign]) -> Candidate:
    """Return signs of one role as one candidate."""
    strongest = sorted(signs, key=lambda sign: (-weight_of(sign), bool(sign.group)))
    names = tuple(dict.fromkeys(map(name_of, strongest)))
    subject = subject_of(strongest[0])
    role = "" if subject is None else subject.role
    return Candidate(names, role, weight_of(strongest[0]), tuple(strongest))


def name_of(sign: Sign) -> str:
    """Return the name by which people know what a sign is about."""
    subject = subject_of(sign)
    return sign.name if subject is None else subject.name


def weight_of(sign: Sign) -> int:
    """Return how strong a sign is."""
    subject = subject_of(sign)
    weight = _WEIGHTS[sign.kind] if subject is None else subject.weight
    return weight - 2 if sign.group else weight


def is_named(sign: Sign, text: str) -> bool:
    """Say whether a text names what a sign is about."""
    if sign.kind is SignKind.FOLDER:
        return _has(text, sign.name.replace("/", r"/"), is_common=True) or _has(
            text, sign.name.rpartition("/")[2], is_common=True
        )
    if sign.kind is SignKind.LICENCE:
        return re.search(rf"\b{re.escape(sign.name)}\b", text) is not None
    if sign.kind is SignKind.PERMISSION:
        return sign.name.partition(":")[0] in text

    return any(_has(text, name, is_common=is_common_word(name)) for name in names_of(sign))


def names_of(sign: Sign) -> list[str]:
    """Return the names by which a text may name what a sign is about."""
    plain = _VERSION.sub("", plain_name(sign.name))
    scope, _, last = plain.rpartition("/")
    bare = _AFFIX.sub("", last)
    if not scope.startswith("@"):
        names = [sign.name, plain, last, bare]
    elif last in _MAIN:
        names = [sign.name, scope.lstrip("@")]
    else:
        names = [sign.name, plain.lstrip("@")]

    subject = subject_of(sign)
    if subject is not None:
        names = [subject.name, *names]

    return [name for name in dict.fromkeys(names) if len(name) > 1]


def _has(text: str, name: str, *, is_common: bool) -> bool:
    """Say whether a text has a name; a common word counts as code, or where it is adopted."""
    words = [re.escape(word) for word in _WORD.findall(name)]
    if not words:
        return False

    pattern = r"[-_./: ]?".join(words)
    if not is_common and len(name) > 2:
        whole = re.compile(rf"(?<![\w@]){pattern}(?!\w)", re.IGNORECASE)
        return whole.search(text) is not None

    as_code = rf"`[^`\n]*(?<![\w-]){pattern}(?![\w-])[^`\n]*`"
    adopted = rf"\b{_ADOPTING}\s+{pattern}(?![\w-])"
    headed = rf"^#.*(?<![\w-]){pattern}(?![\w-])"
    return re.search(f"{as_code}|{adopted}|{headed}", text, re.IGNORECASE | re.M) is not None


def _text_of(record: Record) -> str:
    """Return what a record says, with its title as a heading and its packages as code."""
    uses = "\n".join(f"`{name}`" for name in (*record.uses, *record.globs))
    return f"# {record.title}\n{record.options.chosen}\n{uses}\n{record.prose}"


def _is_news(sign: Sign, old: Known, new: Known) -> bool:
    if sign.kind is SignKind.OWN or key_of(sign) in old.names:
        return sign.kind is SignKind.PERMISSION and _is_granted(sign, old, new)
    if sign.kind in _PACKAGES:
        return _is_new_package(sign, old, new)
    if sign.kind is SignKind.FOLDER:
        return _is_new_folder(sign, old, new)

    return True


def _is_granted(sign: Sign, old: Known, new: Known) -> bool:
    """Say whether one more workflow has a permission than before."""
    place = (sign.kind, sign.name, sign.path)
    if place in old.places:
        return False

    same = [each for each in old.signs if (each.kind, each.name) == place[:2]]
    return all((each.kind, each.name, each.path) in new.places for each in same)


def _is_new_package(sign: Sign, old: Known, new: Known) -> bool:
    subject = subject_of(sign)
    if subject is not None:
        is_aside = bool(sign.group) and not subject.is_for_development
        return subject.name not in old.subjects and not (is_aside and sign.group == "indirect")

    plain = plain_name(sign.name)
    if sign.group or _is_ignored(plain):
        return False

    own = {plain_name(each.name) for each in new.signs if each.kind is SignKind.OWN}
    scopes = {name.partition("/")[0] for name in own if name.startswith("@")}
    if plain in own or plain.partition("/")[0] in scopes:
        return False
    if any(plain.startswith(f"{name}/") for name in own):
        return False

    return _family(plain) not in old.families


def _is_new_folder(sign: Sign, old: Known, new: Known) -> bool:
    """Say whether a folder is news: not the first ones, and not a move."""
    before = [each.name for each in old.signs if each.kind is SignKind.FOLDER]
    if not before or any(name.startswith(f"{sign.name}/") for name in before):
        return False

    return all((SignKind.FOLDER, plain_name(name)) in new.names for name in before)


def _family(name: str) -> str:
    """Return what a package is a part of, by its name: of `@aws-sdk/client-s3` it is `@aws-sdk`.

    Empty for a name that is no part of anything.
    """
    name = _HOST.sub("", _VERSION.sub("", name))
    scope, slash, _ = name.partition("/")
    if slash:
        return scope if name.startswith("@") or "." in scope else "/".join(name.split("/")[:2])

    first = re.split(r"[-.]", name, maxsplit=1)[0]
    return "" if len(first) < 4 or is_common_word(first) else first


def key_of(sign: Sign) -> tuple[SignKind, str]:
    """Return what makes a sign the same as another one."""
    return sign.kind, plain_name(sign.name)


def plain_name(name: str) -> str:
    """Return the form in which names are compared."""
    return name.lower().replace("_", "-").replace(":", "/")


def _module(sign: Sign) -> str:
    """Return the name by which files import a package, as far as its name tells."""
    name = _VERSION.sub("", sign.name)
    if ":" in name:
        return name.partition(":")[0]
    if sign.path.endswith((".toml", ".txt", ".in", ".cfg")) and "/" not in name:
        return name.removesuffix("-binary").replace("-", "_").lower()

    return name


def _joined(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def subject_of(sign: Sign) -> Subject | None:
    """Return what a package or an image is known for."""
    if sign.kind not in _PACKAGES:
        return None

    return _subject(plain_name(sign.name), sign.kind is SignKind.SERVICE)


@cache
def _subject(name: str, is_image: bool) -> Subject | None:
    bare = _HOST.sub("", _VERSION.sub("", name))
    last = bare.rpartition("/")[2]
    forms = [name, bare]
    if is_image or not name.startswith("@"):
        forms.append(last)

    exact, prefixes = _subjects()
    for form in forms:
        if form in exact:
            return exact[form]

    for form in forms:
        for prefix, subject in prefixes:
            if form.startswith(prefix):
                return subject

    return None


@cache
def _is_ignored(name: str) -> bool:
    words = cast(str, _data()["ignored"]).split()
    forms = (name, name.rpartition("/")[2])
    for word in words:
        pattern = re.compile(re.escape(word).replace(r"\*", ".*"))
        if any(pattern.fullmatch(form) for form in forms):
            return True

    return False


@cache
def _data() -> Mapping[str, Any]:
    path = Path(__file__).with_name("subjects.yaml")
    return cast(Mapping[str, Any], yaml.load(path.read_text("utf-8")))


@cache
def _subjects() -> tuple[Mapping[str, Subject], Sequence[tuple[str, Subject]]]:
    """Return the subjects by name, and by the beginning of a name."""
    exact: dict[str, Subject] = {}
    prefixes: list[tuple[str, Subject]] = []
    for subject in _read_subjects():
        for name in subject.names:
            plain = plain_name(name)
            if plain.endswith("*"):
                prefixes.append((plain[:-1], subject))
            else:
                exact.setdefault(plain, subject)

    prefixes.sort(key=lambda row: -len(row[0]))
    return exact, prefixes


def _read_subjects() -> Iterator[Subject]:
    for role in _data()["roles"]:
        for name, names in role["subjects"].items():
            words = tuple(names.replace('"', "").split())
            is_for_development = bool(role.get("dev"))
            yield Subject(name, role["for"], role["weight"], is_for_development, words)
