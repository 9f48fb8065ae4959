"""Kind `import`: which modules a file imports, by their full names."""

from collections.abc import Iterator

from orbit_enforce.kind import WORDS, CheckKind, Fields, Finder, InvalidCheckError, Match, match_at
from orbit_registry.formats.imports import ImportFinder, ModuleNameError, reads_imports


def _make(fields: Fields, must: str) -> Finder:
    try:
        imports = ImportFinder(fields["of"], types=fields.get("types", False))
    except ModuleNameError as error:
        raise InvalidCheckError(str(error)) from None

    def find(path: str, text: str) -> Iterator[Match]:
        for start, end in imports.find(path, text):
            yield match_at(text, start, end)

    return Finder(find, reads_imports)


KIND = CheckKind(
    name="import",
    properties={"of": WORDS, "types": {"type": "boolean"}},
    required=("of",),
    make=_make,
)
