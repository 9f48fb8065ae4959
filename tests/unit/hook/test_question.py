"""Prompts in words: the hook's scores are those of searches,
and what names nothing leads nowhere.
"""

from functools import partial

import pytest

from orbit_registry.hook.index import Index, read_index
from orbit_registry.hook.question import records_by_words
from orbit_registry.matching.pack import Part, pack
from orbit_registry.matching.words import parts_of
from orbit_registry.model.fields import FIELDS, ID, PATH
from orbit_registry.search import index as search
from orbit_registry.search.text import terms
from orbit_registry.search.texts import Fields, words_in

TEXTS: dict[str, Fields] = {
    "upload": (
        "Retry uploads with an idempotency key",
        "uploads",
        "A retried upload charges twice without a key.",
    ),
    "lock": (
        "Take locks in one order",
        "",
        "Two workers deadlock where locks are taken in any order.",
    ),
    "invoice": (
        "Invoices are numbered by the database",
        "billing",
        "請求書の番号は重複しない。 A double invoice is void.",
    ),
    "cache": (
        "Caches are there or not",
        "",
        "Deleting the cache changes no output; no lock guards it.",
    ),
    "closed": ("Invoices are numbered by hand", "billing", "Double invoices were mended by hand."),
}


def indexes_of(
    fields: dict[str, Fields] = TEXTS, with_runs: bool = False
) -> tuple[search.Index, Index]:
    """Return texts as searches have them, and as the hook has them,
    which does not push the one named `closed`.
    """
    by_key = {(name, 0): texts for name, texts in fields.items()}
    texts = search.Index({key: words_in(text) for key, text in by_key.items()})
    parts = []
    for name in fields:
        row = [""] * FIELDS
        row[ID] = row[PATH] = name
        parts.append(Part(tuple(row), 0, name != "closed"))
    if not with_runs:
        texts.texts = [text._replace(heads="", body="") for text in texts.texts]
    index = read_index(pack(parts, min_relevance=0.2, words=partial(parts_of, texts)), "/")
    assert isinstance(index, Index)
    return texts, index


@pytest.mark.parametrize(
    "text",
    [
        "why does the invoice double?",
        "uploads upload uploading retries",
        "deleted caching of locked workers",
        "invoicing ordered charges",
        "locks, caches and the zebra",
        "請求書の番号",
        "parseInvoice double_lock",
        "invoices/uploads, twice.",
    ],
)
def test_scores_are_those_of_a_search(text: str) -> None:
    texts, index = indexes_of()
    searched = {texts.keys[slot][0]: score for slot, score in texts.search(terms(text))}
    searched.pop("closed", None)

    scores = {list(TEXTS)[number]: score for number, score in records_by_words(index, text)}

    assert scores == pytest.approx(searched, abs=0.001)
    assert scores
    assert list(scores.values()) == sorted(scores.values(), reverse=True)


@pytest.mark.parametrize(
    "text",
    ["", "continue", "please fix it", "Yes, go ahead!", "invoice", "the of and", "\x00\ud800"],
)
def test_a_text_that_names_nothing_leads_nowhere(text: str) -> None:
    assert records_by_words(indexes_of()[1], text) == []


@pytest.mark.parametrize("form", ["{asked}\n{log}", "{log}\n{asked}"])
def test_what_is_asked_before_or_after_a_pasted_log_is_read(form: str) -> None:
    log = "".join(f"line{number} of the log went well\n" for number in range(20_000))
    text = form.format(asked="why does the invoice double when uploads retry?", log=log)

    asked = records_by_words(indexes_of()[1], "why does the invoice double when uploads retry?")
    numbers = [number for number, _ in asked]

    assert numbers
    assert [number for number, _ in records_by_words(indexes_of()[1], text)][:1] == numbers[:1]


def test_the_only_record_of_a_project_is_found() -> None:
    index = indexes_of({"only": ("Redis forgets a cache at a restart", "", "")})[1]
    assert records_by_words(index, "Move the cache to Redis")[0][1] >= index.min_relevance


def test_a_plural_is_a_form_of_its_noun() -> None:
    index = indexes_of(
        {"noun": ("A parser keeps its position", "", ""), "verb": ("Parse dates once", "", "")}
    )[1]
    assert [number for number, _ in records_by_words(index, "write two parsers")] == [0]


def test_a_path_in_writing_without_spaces_is_left_out() -> None:
    assert records_by_words(indexes_of()[1], "請求書の番号を修復src/app.py") != []


def test_words_in_a_row_outweigh_the_same_words_apart() -> None:
    fields = {
        "apart": (
            "Clocks",
            "",
            "The file is locked by hand. Its name is long. We lock nothing. Each order is a file.",
        ),
        "in a row": (
            "Clocks",
            "",
            "Its name is long. The lock file is written by hand. We order nothing. It is locked.",
        ),
        "other": ("Threads", "", "A thread waits for the next one."),
    }
    index = indexes_of(fields, with_runs=True)[1]
    hits = {
        text: records_by_words(index, text)
        for text in ("remove the lock file", "remove the file lock")
    }

    assert [number for number, _ in hits["remove the lock file"]] == [1, 0]
    scores, reverse, alone = map(
        dict, (*hits.values(), records_by_words(indexes_of(fields)[1], "remove the lock file"))
    )
    assert scores[1] > reverse[1] == pytest.approx(alone[1])
    assert scores[0] == alone[0]


LONGER = (
    " I have some time this afternoon, so there is no need to hurry. Explain in short sentences "
    "what you did. If you are not sure about something, ask me before you go on. Thank you very "
    "much for your help, it is really appreciated."
)


def test_further_sentences_do_not_lower_a_score_without_end() -> None:
    fields = {
        f"record {at}": (f"A topic{at} keeps its side", "", f"Part{at} is no whole.")
        for at in ("one", "two", "three", "four", "five", "six", "seven", "eight")
    }
    texts, index = indexes_of(fields)
    text = "The topicthree has lost partthree."
    alone, longer = records_by_words(index, text)[0], records_by_words(index, text + LONGER)[0]

    assert alone[0] == longer[0]
    assert alone[1] / 3 < longer[1] < alone[1]
    assert longer[1] > 2 * texts.search(terms(text + LONGER))[0][1]


def test_a_long_text_scores_no_more_than_its_share_where_chance_explains_it() -> None:
    fields = {
        f"record {number}": (f"Topic{number}x", "", "the sentence about something explains time")
        for number in range(20)
    }
    texts, index = indexes_of(fields)
    searched = texts.search(terms(LONGER))

    assert records_by_words(index, LONGER)[0][1] == pytest.approx(searched[0][1], abs=0.001)
