"""What people decide on by name, such as PostgreSQL, and how its packages and images are called."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from itertools import chain
from typing import NamedTuple

from orbit_registry.formats import yaml
from orbit_registry.search.rejected import is_common_word

VERSION = re.compile(r"/v\d+$|\.v\d+$")
HOST = re.compile(r"^(?:github|gitlab|bitbucket)\.com/|^(?:go|golang)\.[\w.]+/")
_ONE_WORD = re.compile(r"[a-z0-9-]+")


class Subject(NamedTuple):
    """What people decide on by name, its role as the end of a title, and how strong it is."""

    name: str
    role: str
    weight: int


NO_SUBJECT = Subject("", "", 0)
IGNORED = Subject("", "no decision", 0)


def plain_name(name: str) -> str:
    """Return the form in which names are compared."""
    return name.lower().replace("_", "-").replace(":", "/")


@cache
def subject_named(name: str, is_image: bool) -> Subject:
    """Return what a package or an image of this plain name is known for."""
    forms = [name, HOST.sub("", VERSION.sub("", name))]
    if is_image or not name.startswith("@"):
        forms.append(forms[1].rpartition("/")[2])

    exact, globs = _subjects()
    for form in forms:
        if form in exact:
            return exact[form]

    for form in forms:
        for glob, subject in globs.items():
            if fnmatchcase(form, glob):
                return subject

    return NO_SUBJECT


def package_names(name: str) -> Sequence[str]:
    """Return how packages and images are called of what people call so: `pg` of PostgreSQL.

    A common word says too little, and a name with a folder is no single word of a file.
    """
    return _package_names().get(name.lower(), ())


@cache
def short_package_names(below: int) -> frozenset[str]:
    """Return the names of packages that have fewer letters than other names need."""
    names = chain.from_iterable(_package_names().values())
    return frozenset(name for name in names if len(name) < below)


@cache
def _package_names() -> Mapping[str, Sequence[str]]:
    exact, _ = _subjects()
    names: defaultdict[str, list[str]] = defaultdict(list)
    for name, subject in exact.items():
        is_telling = _ONE_WORD.fullmatch(name) and not is_common_word(name)
        if subject is not IGNORED and is_telling:
            names[subject.name.lower()].append(name)

    return names


@cache
def _subjects() -> tuple[Mapping[str, Subject], Mapping[str, Subject]]:
    """Return the subjects by name and by glob, the longest first."""
    data = yaml.table_of(__file__, "subjects.yaml")
    rows = [(IGNORED, data["ignored"])]
    for role in data["roles"]:
        for name, names in role["subjects"].items():
            rows.append((Subject(name, role["for"], role["weight"]), names))

    exact: dict[str, Subject] = {}
    globs: dict[str, Subject] = {}
    for subject, names in rows:
        for word in plain_name(names.replace('"', "")).split():
            table = globs if "*" in word else exact
            table.setdefault(word, subject)

    return exact, dict(sorted(globs.items(), key=lambda row: -len(row[0])))
