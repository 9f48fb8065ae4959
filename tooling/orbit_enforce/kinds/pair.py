"""Kind `pair`: each file of the scope has a partner, whose name follows from its own."""

import posixpath
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from orbit_enforce.kind import WORDS, CheckKind, Fields, InvalidCheckError, Survey, Tree

_PLACE = re.compile(r"\{(folder|stem|name)\}")


def _make(fields: Fields, must: str) -> Survey:
    shapes = [_shape(text) for text in fields["with"]]

    def find(tree: Tree, files: Sequence[str]) -> Iterator[tuple[str, str]]:
        paths, in_order = frozenset(tree.paths), sorted(tree.paths)

        @cache
        def ends(folder: str, count: int) -> frozenset[str]:
            """Return the last names, so many, of the paths below a folder."""
            last = (
                bisect_left(in_order, f"{folder[:-1]}0") if folder else len(in_order)
            )  # `0` follows `/`
            below = in_order[bisect_left(in_order, folder) : last]
            return frozenset("/".join(path[len(folder) :].split("/")[-count:]) for path in below)

        for file in files:
            words = {"folder": posixpath.dirname(file), "name": posixpath.basename(file)}
            words["stem"] = words["name"].rpartition(".")[0] or words["name"]
            for shape in shapes:
                top, deep, rest = (_filled(part, words) for part in shape)
                if rest not in (ends(top, rest.count("/") + 1) if deep else paths):
                    yield file, f"`{file}` without `{top}{deep}{rest}`"

    return Survey(find, lambda path, text: Tree(path.split(), lambda _: None))


def _filled(shape: str, words: Mapping[str, str]) -> str:
    return _PLACE.sub(lambda place: words[place[1]], shape).replace("//", "/").lstrip("/")


def _shape(text: str) -> tuple[str, str, str]:
    """Return the folder that a partner is in, `**/` if it may be deeper,
    and the end of its path.
    """
    top, deep, rest = text.partition("**/")
    if not deep:
        top, rest = "", top

    if (
        not _PLACE.search(text)
        or re.search(r"[*?\[\]{}]", _PLACE.sub("", top + rest))
        or (top and top[-1] != "/")
    ):
        message = (
            f"`{text[:80]}` is not a path with `{{folder}}`, `{{stem}}` or `{{name}}` and "
            f"at most one `**/`"
        )
        raise InvalidCheckError(message)

    return top, deep, rest


KIND = CheckKind(
    name="pair",
    properties={"with": WORDS},
    required=("with",),
    make=_make,
    demands=(),
    needs_tree=True,
    hint="add the file",
)
