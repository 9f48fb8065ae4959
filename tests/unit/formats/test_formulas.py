"""Formulas between dollars, and what only looks like one."""

import re
from html import unescape

import pytest

from orbit_registry.formats.markdown_html import render_html


def formulas(text: str) -> list[str]:
    html, _ = render_html(text, lambda code, language: "")
    found = re.findall(
        r'<(?:code class="math"|pre class="math"><code)>(.*?)</code>', html, re.DOTALL
    )
    return [unescape(each) for each in found]


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("It is $a^2$.", ["a^2"]),
        ("$x$ and $f(x)$", ["x", "f(x)"]),
        ("$O(n \\log n)$", ["O(n \\log n)"]),
        ("$\\alpha$, ($a_1 * b_1$)", ["\\alpha", "a_1 * b_1"]),
        ("a $x < y$ b", ["x < y"]),
        ("so $$x=1$$ holds", ["x=1"]),
        ("$$\na_1 * b_1\n  + c\n$$", ["a_1 * b_1\n  + c"]),
        ("- $$\n  x\n  $$", ["x"]),
        ("| $a_1$ | b |\n|---|---|\n| $c^2$ | d |", ["a_1", "c^2"]),
        ("## $a^2$ in a heading", ["a^2"]),
        ("[words with $a^2$](b.md)", ["a^2"]),
        ("$(a+b)^2$", ["(a+b)^2"]),
        ("$<script>a=1</script>$", ["<script>a=1</script>"]),
    ],
)
def test_a_formula_is_shown_as_it_is_written(text: str, inner: list[str]) -> None:
    assert formulas(text) == inner


@pytest.mark.parametrize(
    "text",
    [
        "$5 and $6",
        "US$5-10 and $7-8",
        "from $3+$4 to $5",
        "$HOME/bin:$PATH",
        "$A_B=$C",
        "${A}-${B}",
        "$(git log)$ x",
        "$foo_bar$",
        "\\$a^2$",
        "`$a^2$`",
        "```\n$a^2$\n```",
        "    $a^2$",
        "$ a^2 $",
        "$a\nb^2$",
        "$n log n$",
        "costs $ 5 = 4 $ more",
        "$a^2$b",
    ],
)
def test_prices_variables_and_code_are_no_formulas(text: str) -> None:
    assert formulas(text) == []
