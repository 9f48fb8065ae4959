"""Makes the macro `search(text)` of a snapshot: `search.sql` with the lists of our search; it runs no SQL."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from unicodedata import normalize

from orbit_registry.search import fusion, hits, query, terms, text_index
from orbit_registry.search.kept_texts import NO_TEXT

TEMPLATE = Path(__file__).with_name("search.sql")
_RAISED = "ªº²³¹µ" + "".join(map(chr, (*range(0x2070, 0x209D), *range(0x2460, 0x2469), *range(0xFF01, 0xFFBF))))
_JOINED = "ﬀﬁﬂﬃﬄ™№¼½¾"
PLAIN = {one: plain for one in _RAISED if len(plain := normalize("NFKC", one)) == 1 and plain != one}
"""Characters that Unicode's NFKC form writes with one other, as far as people type them."""
JOINED = {one: normalize("NFKC", one) for one in _JOINED}
"""Those that it writes with several."""


@lru_cache(maxsize=1)
def search_macro() -> str:
    """Return the statements that make the macro and what it uses."""
    text = TEMPLATE.read_text("utf-8")
    for name, value in _values().items():
        text = text.replace(f"@{name}@", value)
    return text


def _values() -> dict[str, str]:
    """Return what stands for each name between two `@`."""
    identifier = query.IDENTIFIER.pattern.replace(r"[\w", r"[\p{L}\p{N}_").replace(r"\w", r"[\p{L}\p{N}_]")
    return {
        "wide": _said("".join(PLAIN)),
        "narrow": _said("".join(PLAIN.values())),
        "joined": "".join(JOINED),
        "open_joined": "replace(" * len(JOINED),
        "close_joined": "".join(f", '{one}', '{plain}')" for one, plain in JOINED.items()),
        "piece": terms.PIECE,
        "marks": terms.MARKS,
        "unspaced": terms.UNSPACED,
        "longest": str(terms.LONGEST_TERM),
        "common": _list(terms.STOP_WORDS),
        "generic": _list(query.GENERIC),
        "no_text": _list(NO_TEXT),
        "whole_words": _list(terms.WHOLE_WORDS),
        "whole_pairs": ", ".join(f"({_list(pair, in_order=True)})" for pair in terms.WHOLE_WORDS.items()),
        "after_plural": _list(terms.AFTER_PLURAL),
        "prefixes": "|".join(terms.REGION_PREFIXES),
        "doubles": _list(terms.DOUBLES),
        "li_endings": "".join(sorted(terms.LI_ENDINGS)),
        **{f"ends_{step}": "|".join(ending for ending, _ in pairs) for step, pairs in _STEPS.items()},
        **{f"cases_{step}": _cases(pairs) for step, pairs in _STEPS.items()},
        "ends_4": "|".join(terms.STEP_4),
        "title": str(text_index.TITLE),
        "tags": str(text_index.TAGS),
        "body": str(text_index.BODY),
        "k1": f"{text_index.K1}::DOUBLE",
        "b": f"{text_index.B}::DOUBLE",
        "shortest": str(fusion.SHORTEST),
        "longest_gram": str(fusion.LONGEST),
        "smoothing": str(fusion.SMOOTHING),
        "pool_deep": str(query.BUDGETS["deep"].pool),
        "pool_balanced": str(query.BUDGETS["balanced"].pool),
        "long": str(query.LONG),
        "identifier": _said(identifier.replace(r"\d", r"\p{Nd}")),  # codespell:ignore nd
        "quotes": _said(query.QUOTES),
        "frame": _said(query.FRAME),
        "edges": _said(hits.MARKS),
        "linked": f"{hits.LINKED}::DOUBLE",
        "leading": str(hits.LEADING),
    }


_STEPS = {"2": terms.STEP_2, "3": terms.STEP_3}


def _cases(pairs: Iterable[tuple[str, str]]) -> str:
    return " ".join(f"WHEN '{ending}' THEN '{instead}'" for ending, instead in pairs) + " END"


def _list(words: Iterable[str], *, in_order: bool = False) -> str:
    return ", ".join(f"'{_said(word)}'" for word in (words if in_order else sorted(words)))


def _said(text: str) -> str:
    return text.replace("'", "''")
