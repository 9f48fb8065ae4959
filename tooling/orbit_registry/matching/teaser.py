"""Words of a record in an agent's context:
its line, and a sentence that says what follows from it.
"""

from orbit_registry.formats.untrusted import cut, inert_line
from orbit_registry.model.fields import MORE_LINE
from orbit_registry.model.record import Record

LONGEST_TEASER = 400
LONGEST_NOTE = 100


def safe(text: str) -> str:
    """Return a text as data in another's block:
    one line, nothing unseen, no tag that could close it, no home.
    """
    return cut(inert_line(text), LONGEST_TEASER)


def teaser_of(record: Record, has_body: bool) -> str:
    """Return the line of a record in an agent's context, and where its full text is."""
    line = f"- [{record.id}] {safe(record.title)}"
    source = record.source
    more = ""
    if source:
        more = source.path
    elif has_body or record.prose.strip():
        more = record.path

    if more:
        return f"{line}{MORE_LINE}{safe(more)}"

    return line


def sentence_of(record: Record, prose: str) -> str:
    """Return a decision in one sentence: its summary, else what its text says was decided; empty
    if neither says it, and for records of other kinds, whose headline is a sentence.
    """
    if not record.kind.in_document:
        return ""

    # Its patterns take 30 ms, which most syncs do without.
    from orbit_registry.formats.adr import sentence

    return inert_line(record.text("summary") or "") or sentence.sentence_of(prose)


def note_of(record: Record) -> str:
    """Return the sentence of a decision, else how the text of its consequences begins; of another
    record how its text begins. Empty if there is none.
    """
    if record.kind.in_file:
        return ""
    if not record.kind.in_document:
        return _first_sentence(record.prose)

    # Its patterns take 30 ms, which most syncs do without.
    from orbit_registry.formats.adr.sentence import section_of

    decided = cut(safe(sentence_of(record, record.prose)), LONGEST_NOTE)
    return decided or _first_sentence(section_of(record.prose, "consequences"))


def _first_sentence(text: str) -> str:
    from orbit_registry.formats.sentences import paragraphs, sentences  # for what changed alone

    first = next(sentences(next(paragraphs(text), "")), "")
    return cut(safe(first), LONGEST_NOTE)
