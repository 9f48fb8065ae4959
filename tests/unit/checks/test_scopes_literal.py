"""A glob whose brackets are meant as characters of a name says how to write that."""

import pytest

from orbit_registry.checks.scopes import folders_of, glob_hint, literal_glob
from orbit_registry.formats.globs import Glob, matches, parse_glob

FILES = ("app/(shop)/[slug]/page.tsx", "app/{draft}/a.ts", "pages/[id].tsx", "app/x/[...all]/b.ts")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("app/(shop)/[slug]/**", "app/(shop)/[[]slug]/**"),
        ("app/{draft}/**", "app/[{]draft[}]/**"),
        ("pages/[id].tsx", "pages/[[]id].tsx"),
        ("app/x/[...all]/*.ts", "app/x/[[]...all]/*.ts"),
        ("app/(shop)/[slug]", "app/(shop)/[[]slug]"),
        ("**/[slug]/**", "**/[[]slug]/**"),
        ("app/**/[slug]/*.{ts,tsx}", "app/**/[[]slug]/*.{ts,tsx}"),
        ("**/[id].tsx", "**/[[]id].tsx"),
        ("**/[...all]/**", "**/[[]...all]/**"),
        ("**/[missing]/**", None),
        ("app/[ab]/**", None),
        ("src/{a,b}/**", None),
        ("app/(shop)/*/page.tsx", None),
    ],
)
def test_a_name_with_brackets_is_escaped(written: str, meant: str | None) -> None:
    folders = folders_of(FILES)
    assert literal_glob(written, folders, FILES) == meant
    if meant is not None:
        below = "/**" if written in folders else ""
        assert f"write `{meant}{below}`" in glob_hint(written, folders, "", FILES)
        glob = parse_glob(f"{meant}{below}")
        assert isinstance(glob, Glob)
        assert any(matches(glob, file) for file in FILES)


@pytest.mark.parametrize("written", ["app/{draft}/**", "app/[slug]/**", "app/[ab]/x"])
def test_no_hint_proposes_what_is_written(written: str) -> None:
    assert f"did you mean `{written}" not in glob_hint(written, folders_of(FILES), "", FILES)
