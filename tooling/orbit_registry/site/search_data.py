"""Data of the search box: the records it shows, and the weight of each term in them."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from orbit_registry.hook.words import STOP_WORDS
from orbit_registry.model.record import Record
from orbit_registry.search.index import Index
from orbit_registry.site.sitemap import url_of
from orbit_registry.site.words import status_css

DATA = "search/records.json"
FOLDER = "search/words"
IN_A_FILE = 64
"""Of more records than that for each file of words, there are twice as many files."""
FEWEST_FILES, MOST_FILES = 16, 256
LONGEST_LEAD = 160
_as_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_SKIPPED = re.compile(
    r"(?:#|\||<!--|```|~~~|---|===|[-*+]?\s*\**(?:status|date|deciders|tags|legacy_id)\**\s*:)", re.IGNORECASE
)
_MARKS = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|[`*_]{1,3}|^(?:[-*+>]|\d+[.)])\s+")


def description_of(record: Record, prose: str) -> str:
    """Return a record in one sentence, as those who list pages show it: its summary, else how its prose begins."""
    return record.text("summary") or lead(prose) or record.title


def paths(records: int) -> list[str]:
    """Return the files by their path in the site, for so many records."""
    number = FEWEST_FILES
    while number < MOST_FILES and number * IN_A_FILE < records:
        number *= 2
    return [DATA, *(f"{FOLDER}/{shard}.json" for shard in range(number))]


def shard_of(word: str, number: int) -> int:
    """Return which file holds a word: words with the same first two letters share one."""
    first, second = ord(word[0]), ord(word[1]) if len(word) > 1 else 0
    return (first * 31 + second) % number


def files(
    entries: Sequence[tuple[Record, str]], index: Index, successors: Callable[[Record], Sequence[Record]]
) -> Iterator[tuple[str, str]]:
    """Yield the files by their path in the site; `entries` are records, each with how its text begins.

    The first has the records as [id, title, address, number of the look, first line], a closed one with the numbers of
    its `successors` after that, the looks, the records of each earlier name, and the common words. Each of the others
    has words with their terms, and what these terms weigh: the number of a record and a hundred times the weight, in
    turns.
    """
    data, *shards = paths(len(entries))
    look_of = [(record.status.word, status_css(record.status)) for record, _ in entries]
    looks = {look: number for number, look in enumerate(dict.fromkeys(look_of))}
    names: defaultdict[str, list[int]] = defaultdict(list)
    numbers = {record.path: number for number, (record, _) in enumerate(entries)}
    rows: list[list[object]] = []
    for number, ((record, first_line), look) in enumerate(zip(entries, look_of, strict=True)):
        for name in record.legacy_ids:
            names[name.lower()].append(number)
        heirs = [numbers[later.path] for later in successors(record) if later.path in numbers]
        rows.append([record.id, record.title, url_of(record), looks[look], first_line, *([heirs] if heirs else [])])
    content = {"records": rows, "looks": list(looks), "names": names, "common": sorted(STOP_WORDS)}
    yield data, _as_json({**content, "files": len(shards)})
    postings = _postings([record.path for record, _ in entries], index)
    words: list[dict[str, str]] = [{} for _ in shards]
    for word, term in sorted({**{term: term for term in index.terms}, **index.stems}.items()):
        if postings[term]:
            words[shard_of(word, len(shards))][word] = term
    for path, shard_words in zip(shards, words, strict=True):
        terms = {term: postings[term] for term in sorted(set(shard_words.values()))}
        yield path, _as_json({"words": shard_words, "terms": terms})


def _postings(record_paths: Sequence[str], index: Index) -> Mapping[str, Sequence[int]]:
    """Return for each term the number of each record that has it, followed by its weight in the record's best part."""
    numbers = {path: number for number, path in enumerate(record_paths)}
    rows = [numbers.get(path) for path, _ in index.keys]
    postings: dict[str, list[int]] = {}
    for term in index.terms:
        best: dict[int, int] = {}
        for slot, weight in index.weights(term):
            if (row := rows[slot]) is not None:
                best[row] = max(best.get(row, 0), round(weight * 100))
        postings[term] = [number for row in sorted(best) for number in (row, best[row])]
    return postings


def lead(prose: str) -> str:
    """Return the first line of a text that says something, without its Markdown: whole words, 160 characters."""
    for line in prose.splitlines():
        stripped = line.strip()
        if not stripped or _SKIPPED.match(stripped):
            continue
        text = " ".join(_MARKS.sub(lambda mark: mark[1] or "", stripped).split())
        if len(text) <= LONGEST_LEAD:
            return text
        return text[:LONGEST_LEAD].rpartition(" ")[0] + " …"
    return ""
