"""Rejected options that a prompt names, or that a tool call adds as an import or a dependency.

It is loaded only where the index holds rejected options. Of an edit, lines of imports and of
dependency files are read.
"""

from orbit_registry.hook.call import LONGEST_TEXT, PATCH, ends_of, field
from orbit_registry.hook.index import OPTIONS
from orbit_registry.hook.tools import ADDING, edits_in
from orbit_registry.hook.words import words
from orbit_registry.model.fields import EXACT, PHRASES, REJECTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from orbit_registry.hook.call import Payload
    from orbit_registry.hook.index import Index
    from orbit_registry.model.fields import Row

MOST_NAMES, LONGEST_LINE = 200, 400
"""Names of a call that are looked up, characters of a line that are read."""
_ADOPTING_WORDS = "use using adopt adopting switch switching move migrate introduce choose try"
ADOPTING = tuple(_ADOPTING_WORDS.split())
"""Words before the name of what the user wants to use; small words between them do not count."""
_IMPORTS_WORDS = (
    "import from require require_relative use using include gem extern export const let "
    "var alias library"
)
_IMPORTS = frozenset(_IMPORTS_WORDS.split())
_ASSIGNING = frozenset(("export", "const", "let", "var"))
_BETWEEN = frozenset(("static", "type", "typeof", "crate", "namespace", "pub", "lazy"))
_FILES_WORDS = (
    "package.json composer.json pyproject.toml go.mod cargo.toml pom.xml build.gradle "
    "gemfile build.gradle.kts libs.versions.toml mix.exs setup.py setup.cfg pipfile "
    "environment.yml environment.yaml pubspec.yaml"
)
_FILES = frozenset(_FILES_WORDS.split())
_PROSE = (".md", ".markdown", ".mdx", ".rst", ".txt", ".adoc", ".html", ".csv", ".svg")
_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./@:\\")
_VERSION = frozenset("^~<>=*0123456789")
_SOURCES = ("workspace:", "catalog:", "latest", "npm:", "file:", "git", "http")
_INSTALLERS_WORDS = (
    "npm pnpm yarn bun pip pip3 uv poetry pipenv pdm cargo go gem bundle composer conda "
    "deno dotnet mix apt apt-get apk dnf yum brew"
)
_INSTALLERS = frozenset(_INSTALLERS_WORDS.split())
_ENDS = str.maketrans(dict.fromkeys(";|&()\n", " ; ") | dict.fromkeys("\"'", ""))


def options_named(index: "Index", text: str, names: "Iterable[str]") -> dict[int, int]:
    """Return the pushed records that reject an option which a text or a name of a package means.

    Each has the option's position.
    """
    matches: dict[int, int] = {}
    pieces = " ".join(ends_of(text, LONGEST_TEXT)).split()
    bare = " ".join([word for word in pieces if "/" not in word])
    # Capitals part `MySQL`; `mysql` is one word.
    for form in dict.fromkeys((bare, bare.lower())):
        query = words(form, whole=True)
        _add_matches(index, matches, query, frozenset(), query)

    for name in names:
        whole, joined, single = forms_of(name)
        _add_matches(index, matches, [*joined, *single], frozenset(joined), whole)

    return matches


def forms_of(name: str) -> tuple[list[str], list[str], list[str]]:
    """Return the words of a package's name, the names that it can have, and the words of its parts.

    `@nats-io/transport-node` has the names `nats io` and `natsio`, too.
    """
    parts = name.replace(":", "/").replace("\\", "/").split("/")
    forms = [words(part, whole=True) for part in (name, *parts)]
    joined: list[str] = []
    single: list[str] = []
    for form in forms:
        joined += " ".join(form), "".join(form)
        single += form

    return forms[0], joined, single


def is_meant(phrase: str, exact: "Collection[str]", whole: "Sequence[str]") -> bool:
    """Say whether a name or its words mean an option that the index has as a phrase."""
    return phrase.lstrip(EXACT) in exact or f" {phrase} " in f" {' '.join(whole)} "


def option_line(row: "Row", position: int) -> tuple[str, str]:
    """Return a rejected option of a record, and what is shown of it."""
    options = row.words(REJECTED)
    option = options[position].rpartition(PHRASES)[2] if position < len(options) else ""
    record_id = row.id
    title, _, more = row.teaser.partition("\n")
    title = title.removeprefix(f"- [{record_id}] ")
    line = (
        f"- [{record_id}] rejected {option} ({title}); to reopen: propose an ADR that "
        f"supersedes {record_id}"
    )
    return option.partition(": ")[0], f"{line}\n{more}" if more else line


def _add_matches(
    index: "Index",
    matches: dict[int, int],
    keys: "Iterable[str]",
    exact: frozenset[str],
    query: list[str],
) -> None:
    """Add the options under some keys whose name is in a query or is one of `exact`."""
    joined = f" {' '.join(query)} "
    for key in dict.fromkeys(keys):
        if not key:
            continue

        for phrase, hits in index.lookup(f"{OPTIONS}{key}")[1].items():
            if not is_meant(phrase, exact, query) and not _is_adopted(phrase, joined):
                continue

            for hit in hits:
                if hit < index.pushed << 32:
                    matches.setdefault(hit >> 32, hit & 0xFFFFFFFF)


def _is_adopted(phrase: str, joined: str) -> bool:
    """Say whether a query adopts an option that has a common name: `use polling`."""
    if phrase[0] != EXACT or " " in phrase:
        return False
    return any(f" {verb} {phrase[1:]} " in joined for verb in ADOPTING)


def added_names(arguments: "Payload", path: str, root: str, folder: str = "") -> list[str]:
    """Return the packages and modules that a tool's input adds.

    `path` is the file's, from the root, if it is one.
    """
    names: dict[str, None] = {}
    command = field(arguments, "command")
    if PATCH not in command:
        names |= dict.fromkeys(installed_by(command))

    for file, new, old in edits_in(arguments, path, root, folder):
        before = {*names_in(file, old)}
        names |= dict.fromkeys(name for name in names_in(file, new) if name not in before)

    return list(names)[:MOST_NAMES]


def names_in(path: str, text: str) -> "Iterator[str]":
    """Yield the packages and modules that lines of a file import, or of a manifest depend on."""
    file = path.rpartition("/")[2].casefold()
    if file.startswith("requirements") and file.endswith((".txt", ".in")):
        names_of = _requirement
    elif file in _FILES:
        names_of = _DECLARED.get(file, _declared)
    elif file.endswith(_PROSE):
        return
    else:
        names_of = _imported

    for line in text.split("\n"):
        if line and len(line) <= LONGEST_LINE:
            for name in names_of(line.strip()):
                if name and name[0] not in ".~#/" and not name.startswith("@/"):
                    yield name.removeprefix("node:")


def _quoted(line: str) -> list[str]:
    parts = line.replace("'", '"').replace("`", '"').split('"')
    if len(parts) > 2:
        return parts[1::2]

    return []


def _start(text: str) -> str:
    """Return the name that a text begins with: of `redis>=5` it is `redis`."""
    end = 0
    while end < len(text) and text[end] in _NAME and (text[end] != "@" or end == 0):
        end += 1

    is_whole = end == len(text) or text[end : end + 3].strip()[:1] in tuple("<>=!~;[@^,")
    if is_whole:
        return text[:end].rstrip(".:")

    return ""


def _imported(line: str) -> "Iterable[str]":
    bare = line.lstrip("#")
    end = 0
    while end < len(bare) and (bare[end].isalpha() or bare[end] == "_"):
        end += 1

    word, tail = bare[:end], bare[end:].strip()

    # In a block of Go, or the end of an import over several lines.
    if line[:1] in '"`})' and line[-1:] in "\"`;'":
        if " from " in line or " " not in line:
            return _quoted(line)

        return ()

    # In such a block, with an alias.
    if line[-1:] == '"' and line.count(" ") == 1 and "/" in line.partition(' "')[2]:
        return _quoted(line)

    if word not in _IMPORTS or not tail:
        return ()

    names = _quoted(tail)
    is_import = " from " in tail or "require(" in tail or "import(" in tail
    if word in _ASSIGNING and not is_import:
        return ()
    if word in _ASSIGNING or names:
        return names[-1:]

    head = tail.partition(" import ")[0].partition(";")[0].partition("{")[0]
    for part in head.split(","):
        tokens = [token for token in part.split() if token not in _BETWEEN]
        if len(tokens) in (1, 3):  # a name, or a name with an alias
            names.append(tokens[0].strip("<>()*"))

    return names


def _json_names(line: str) -> "Iterator[str]":
    for part in line.split(","):
        texts = _quoted(part)
        if len(texts) < 2:
            continue

        name, version = texts[-2:]
        if version[:1] in _VERSION or version.startswith(_SOURCES):
            yield name


def _requirement(line: str) -> "Iterable[str]":
    if line[0] in "#-":
        return ()
    return (_start(line.partition("#")[0].strip()),)


def _module(line: str) -> "Iterable[str]":
    return [token for token in line.removeprefix("require ").split()[:1] if "." in token]


def _tag_names(line: str) -> "Iterable[str]":
    return [
        line.partition(f"<{tag}>")[2].partition("<")[0]
        for tag in ("artifactId", "groupId")
        if f"<{tag}>" in line
    ]


def _declared(line: str) -> "Iterator[str]":
    """Yield the names of a line of TOML, Gradle and such: a key, and what is quoted, no prose."""
    key, equals, _ = line.partition("=")
    if equals and _NAME.issuperset(key.strip()):
        yield key.strip()
    if line.startswith("{:"):
        yield line[2:].partition(",")[0]

    yield from map(_start, _quoted(line))


def _listed(line: str) -> "Iterable[str]":
    return (_start(line.removeprefix("- ").rpartition("::")[2].strip()),)


def _keyed(line: str) -> "Iterable[str]":
    key, colon, value = line.partition(":")
    if colon and value.strip()[:1] in _VERSION | {""}:
        return (_start(key),)

    return ()


_DECLARED = {
    "setup.cfg": _requirement,
    "environment.yml": _listed,
    "environment.yaml": _listed,
    "pubspec.yaml": _keyed,
    "package.json": _json_names,
    "composer.json": _json_names,
    "go.mod": _module,
    "pom.xml": _tag_names,
}


def installed_by(command: str) -> "Iterator[str]":
    """Yield the packages that a shell command installs."""
    installer = is_adding = False
    for token in command.translate(_ENDS).split():
        if token == ";":
            installer = is_adding = False
        elif is_adding:
            if token[0] != "-" and not token.startswith("."):
                yield _start(token)
        elif installer and token in ADDING:
            is_adding = True
        elif token.rpartition("/")[2] in _INSTALLERS:
            installer = True
