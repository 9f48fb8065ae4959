"""Unwritten decisions: what a change brings that looks like one, and that no record explains.

Two lists of signs go in, of the tree before and after, and the records that explain; at most three
candidates come out, the strongest first. Each has the command that starts its record.
"""

import posixpath
import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from orbit_registry.errors import listed
from orbit_registry.formats.adr.options import chosen_option
from orbit_registry.lifecycle.signs import Sign, SignKind
from orbit_registry.lifecycle.subjects import (
    HOST,
    IGNORED,
    NO_SUBJECT,
    VERSION,
    Subject,
    plain_name,
    subject_named,
)
from orbit_registry.model.record import Record
from orbit_registry.search.rejected import is_common_word

MOST = 3
"""Candidates of one change: more is a list that people learn to skip."""
MOST_NAMES = 5
"""Names of one candidate that are shown."""
MOST_IN_TITLE = 3

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
    SignKind.FOLDER: "Make {} a package",
    SignKind.SCHEMA: "Describe data and interfaces with {}",
    SignKind.LICENCE: "License the project under {}",
    SignKind.PERMISSION: "Let a workflow have {}",
}
_PACKAGES = (SignKind.DEPENDENCY, SignKind.SERVICE)

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
class Candidate:
    """A decision that a change seems to make: why it seems so, and the files that show it."""

    names: tuple[str, ...]
    """As people write them: `RabbitMQ`."""
    role: str
    weight: int
    signs: tuple[Sign, ...]
    more: tuple[str, ...] = ()
    """Names of weaker candidates, for which there is no line."""

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

        if self.more:
            parts.append(f"weaker: {listed(self.more, MOST_NAMES)}")

        return "; ".join(parts)

    @property
    def place(self) -> str:
        """Where it shows first, as `path:line`, and in how many more files."""
        first = self.signs[0]
        where = f"{first.path}:{first.line}" if first.line else first.path
        others = len({sign.path for sign in self.signs}) - 1
        if others:
            return f"{where} and {others} more"

        return where

    @property
    def title(self) -> str:
        """The title that the record may have."""
        names = " and ".join(self.names[:MOST_IN_TITLE])
        template = _TITLES.get(self.kind, "Use {}")
        return f"{template.format(names)} {self.role}".strip()

    @property
    def command(self) -> str:
        """The command that starts the record."""
        options = dict.fromkeys(filter(None, map(_option, self.signs)))
        words = ["orbit", "adr", "new", "--title", self.title]
        for option in list(options)[:MOST_NAMES]:
            words += option

        return shlex.join(words)

    def as_data(self) -> dict[str, object]:
        """Return it as JSON shows it."""
        return {
            "names": list(self.names),
            "kind": self.kind.value,
            "reason": self.reason,
            "more": list(self.more),
            "title": self.title,
            "files": [{"path": sign.path, "line": sign.line or None} for sign in self.signs],
            "command": self.command,
        }


class _Tree:
    """The signs of a tree, by the ways in which one of a change may be no news."""

    def __init__(self, signs: Sequence[Sign]) -> None:
        self.signs = frozenset(signs)
        self.counts = Counter(map(key_of, signs))
        self.subjects = set(map(subject_of, signs)) - {NO_SUBJECT}
        self.folders = [sign for sign in signs if sign.kind is SignKind.FOLDER]
        self.own = {plain_name(sign.name) for sign in signs if sign.kind is SignKind.OWN}
        packages = [sign for sign in signs if sign.kind in (*_PACKAGES, SignKind.OWN)]
        names = {plain_name(sign.name) for sign in packages}
        self.families = {family_of(name) for name in names} | names


def added(before: Sequence[Sign], after: Sequence[Sign]) -> list[Sign]:
    """Return the signs that are news: no part of what was there, no move, no tool."""
    old, new = _Tree(before), _Tree(after)
    return [sign for sign in after if _is_news(sign, old, new)]


def unwritten(
    before: Sequence[Sign], after: Sequence[Sign], records: Iterable[Record]
) -> list[Candidate]:
    """Return what looks like a decision of a change and no record explains, the strongest first.

    The records have their prose; those that are closed explain nothing.
    """
    news = added(before, after)
    if news:
        return shortlist(candidates(unexplained(news, records)))

    return []


def shortlist(rows: Sequence[Candidate]) -> list[Candidate]:
    """Return the first candidates; the last of them has the names of those that are left out."""
    first, others = list(rows[:MOST]), rows[MOST:]
    if others:
        names = chain.from_iterable(each.names for each in others)
        first[-1] = replace(first[-1], more=tuple(names))

    return first


def unexplained(signs: Sequence[Sign], records: Iterable[Record]) -> list[Sign]:
    """Return the signs that no record explains which is open or live."""
    texts = [_text_of(record) for record in records if record.phase != "closed"]
    text = "\n".join(texts)
    return [sign for sign in signs if not is_named(sign, text)]


def candidates(signs: Iterable[Sign]) -> list[Candidate]:
    """Return signs as candidates, the strongest first: one for each role."""
    groups: defaultdict[str, list[Sign]] = defaultdict(list)
    for sign in signs:
        role = subject_of(sign).role
        groups[role or sign.kind].append(sign)

    rows = [candidate_of(group) for group in groups.values()]
    return sorted(rows, key=lambda candidate: -candidate.weight)


def candidate_of(signs: Iterable[Sign]) -> Candidate:
    """Return signs of one role as one candidate."""
    strongest = sorted(signs, key=lambda sign: (-weight_of(sign), bool(sign.group)))
    names = tuple(dict.fromkeys(map(name_of, strongest)))
    first = strongest[0]
    return Candidate(names, subject_of(first).role, weight_of(first), tuple(strongest))


def name_of(sign: Sign) -> str:
    """Return the name by which people know what a sign is about."""
    return subject_of(sign).name or sign.name


def weight_of(sign: Sign) -> int:
    """Return how strong a sign is."""
    weight = subject_of(sign).weight or _WEIGHTS[sign.kind]
    if sign.group:
        return weight - 2

    return weight


def is_named(sign: Sign, text: str) -> bool:
    """Say whether a text names what a sign is about."""
    if sign.kind is SignKind.LICENCE:
        return re.search(rf"\b{re.escape(sign.name)}\b", text) is not None
    if sign.kind is SignKind.PERMISSION:
        return sign.name.partition(":")[0] in text

    is_folder = sign.kind is SignKind.FOLDER
    return any(
        _has(text, name, is_common=is_folder or is_common_word(name)) for name in names_of(sign)
    )


def names_of(sign: Sign) -> list[str]:
    """Return the names by which a text may name what a sign is about."""
    plain = VERSION.sub("", plain_name(sign.name))
    scope, _, last = plain.rpartition("/")
    bare = _AFFIX.sub("", last)
    if not scope.startswith("@"):
        names = [sign.name, plain, last, bare]
    elif last in _MAIN and scope != "@types":
        names = [sign.name, scope.lstrip("@")]
    else:
        names = [sign.name, plain.lstrip("@")]

    return [name for name in dict.fromkeys((name_of(sign), *names)) if len(name) > 1]


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
    return f"# {record.title}\n{chosen_option(record.prose)}\n{uses}\n{record.prose}"


def _is_news(sign: Sign, old: _Tree, new: _Tree) -> bool:
    if sign.kind is SignKind.PERMISSION:
        # A workflow that is renamed keeps what it may do.
        is_more = new.counts[key_of(sign)] > old.counts[key_of(sign)]
        return is_more and sign not in old.signs
    if sign.kind is SignKind.OWN or key_of(sign) in old.counts:
        return False
    if sign.kind in _PACKAGES:
        return _is_new_package(sign, old, new)
    if sign.kind is SignKind.FOLDER:
        return _is_new_folder(sign, old, new)

    return True


def _is_new_package(sign: Sign, old: _Tree, new: _Tree) -> bool:
    subject = subject_of(sign)
    if sign.group == "indirect" or subject == IGNORED:
        return False
    if subject is not NO_SUBJECT:
        return subject not in old.subjects

    name = plain_name(sign.name)
    family = family_of(name)
    is_own = name in new.own or any(name.startswith(f"{own}/") for own in new.own)
    is_part = family != name and (SignKind.DEPENDENCY, family) in new.counts
    return not sign.group and not is_own and not is_part and family not in old.families


def _is_new_folder(sign: Sign, old: _Tree, new: _Tree) -> bool:
    """Say whether a folder is news: not the first one, and not one that was moved."""
    is_above = any(each.name.startswith(f"{sign.name}/") for each in old.folders)
    is_move = any(key_of(each) not in new.counts for each in old.folders)
    return bool(old.folders) and not is_above and not is_move


def family_of(name: str) -> str:
    """Return what a package is a part of, by its name: of `@aws-sdk/client-s3` it is `@aws-sdk`.

    Of a name that is no part of anything it is the name.
    """
    name = HOST.sub("", VERSION.sub("", name))
    scope, *below = name.split("/")
    if below and (name.startswith("@") or "." in scope):
        return scope
    if below:
        return f"{scope}/{below[0]}"

    first = re.split(r"[-.]", name, maxsplit=1)[0]
    if len(first) < 4 or is_common_word(first):
        return name

    return first


def key_of(sign: Sign) -> tuple[SignKind, str]:
    """Return what makes a sign the same as another one."""
    return sign.kind, plain_name(sign.name)


def _option(sign: Sign) -> tuple[str, str] | None:
    """Return the option of the command that says where the record applies."""
    if sign.kind is SignKind.FOLDER:
        return "--path", f"{sign.name}/**"
    if sign.name == "SQL migrations":
        return "--path", f"{posixpath.dirname(sign.path)}/**"
    if sign.kind is not SignKind.DEPENDENCY:
        return "--path", sign.path

    # The name by which files import it, as far as the package's name tells.
    name = VERSION.sub("", sign.name).partition(":")[0]
    if sign.path.endswith((".toml", ".txt", ".in", ".cfg")) and "/" not in name:
        name = name.removesuffix("-binary").replace("-", "_").lower()

    return "--uses", name


def subject_of(sign: Sign) -> Subject:
    """Return what a package or an image is known for."""
    if sign.kind not in _PACKAGES:
        return NO_SUBJECT

    return subject_named(plain_name(sign.name), sign.kind is SignKind.SERVICE)
