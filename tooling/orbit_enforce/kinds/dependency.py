"""Kind `dependency`: what the manifests of a project name."""

from collections.abc import Iterator

from orbit_enforce.kind import WORDS, CheckKind, Fields, Finder, Match, match_at
from orbit_enforce.kinds.path import parse
from orbit_registry.formats.code_tree import UnreadableError
from orbit_registry.formats.globs import Glob, matches
from orbit_registry.formats.manifests import ADDRESS, ManifestError, dependencies, is_manifest


def _make(fields: Fields, must: str) -> Finder:
    globs = [parse(_plain(text)) for text in fields.get("of") or fields["only"]]

    def find(path: str, text: str) -> Iterator[Match]:
        try:
            for name, spelling, start, _, group in dependencies(path, text):
                if group == ADDRESS and "only" in fields:
                    continue
                if any(_is_named(glob, _plain(name)) for glob in globs) == ("of" in fields):
                    yield match_at(text, start, start + len(spelling))._replace(
                        text=name, lines=_plain(name)
                    )
        except ManifestError as error:
            raise UnreadableError(str(error)) from None

    return Finder(find, is_manifest)


def _is_named(glob: Glob, name: str) -> bool:
    """Say whether a glob names a package; one with a wildcard and no group is about the part after
    the group.
    """
    return matches(
        glob, name if "/" in glob.text or "*" not in glob.text else name.rpartition("/")[2]
    )


def _plain(name: str) -> str:
    """Return the form in which names are compared:
    case, `_` and the colon between group and artifact don't count.
    """
    return name.lower().replace("_", "-").replace(":", "/")


KIND = CheckKind(
    name="dependency",
    properties={"of": WORDS, "only": WORDS},
    make=_make,
    forms=("of", "only"),
    demands=("of",),
    example_names=("requirements.txt", "package.json", "pyproject.toml"),
    needs_all=False,
    everywhere=lambda fields: True,
)
