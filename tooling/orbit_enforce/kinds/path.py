"""Kind `path`: which files may be, which must be, and how files are named."""

from collections.abc import Iterator, Sequence

from orbit_enforce.kind import WORDS, CheckKind, Fields, InvalidCheckError, Survey, Tree
from orbit_registry.formats.globs import Glob, matches, parse_glob

_FORMS = ("of", "only", "named")


def _make(fields: Fields, must: str) -> Survey:
    ((form, texts),) = fields.items()
    globs = [parse(text) for text in texts]

    def find(tree: Tree, files: Sequence[str]) -> Iterator[tuple[str, str]]:
        if must == "have":
            for glob in globs:
                if not any(matches(glob, path) for path in files):
                    yield "", f"no file matches `{glob.text}`"
        for path in files if must == "not" else ():
            name = path.rpartition("/")[2] if form == "named" else path
            if any(matches(glob, name) for glob in globs) == (form == "of"):
                yield path, f"`{path}`"

    return Survey(find)


def parse(text: str) -> Glob:
    """Return a glob that includes."""
    glob = parse_glob(text)
    if not isinstance(glob, Glob):
        raise InvalidCheckError(f"`{text[:80]}` is not a glob: {glob.message}")
    if glob.exclude:
        raise InvalidCheckError(f"`{text[:80]}` starts with `!`: write it without, under `except:`")
    return glob


KIND = CheckKind(
    name="path",
    properties=dict.fromkeys(_FORMS, WORDS),
    make=_make,
    forms=_FORMS,
    demands=("of",),
    needs_all=False,
    everywhere=lambda fields: "of" in fields,
)
