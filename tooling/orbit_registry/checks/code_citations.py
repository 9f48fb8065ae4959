"""The citations in code that the gate reports, and which of their lines a change adds."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from orbit_registry.formats.sources import SOURCE_LIMIT
from orbit_registry.lifecycle.code_citation import BadCitation, bad_citations
from orbit_registry.repository.change import change_since
from orbit_registry.repository.reader import Reading
from orbit_registry.repository.vcs_state import VcsState
from orbit_registry.search.source_files import SourceFiles
from orbit_registry.workspace.files import read_text
from orbit_registry.workspace.workspace import Workspace

InCode = tuple[Sequence[BadCitation], AbstractSet[tuple[str, int]]]
NONE_CITED: InCode = ((), frozenset())


def cited_in_code(workspace: Workspace, reading: Reading, facts: VcsState) -> InCode:
    """Return the bad citations in code, and path and number of their lines that are new."""
    records = [*reading.collection.records]
    if facts.tracked is None or not any(record.kind.in_document for record in records):
        return NONE_CITED

    files = (*facts.tracked, *facts.untracked)
    citations = list(bad_citations(SourceFiles(workspace, records, files)))
    if facts.against is None or not facts.base_commit or not citations:
        return citations, frozenset()

    change = change_since(workspace.git, facts.base_commit, facts.untracked)
    places = {(citation.path, citation.line) for citation in citations}
    added: set[tuple[str, int]] = set()
    for path in {path for path, _ in places} & change.earlier.keys():
        text = read_text(workspace.root / path, limit=SOURCE_LIMIT)
        added.update((path, line) for line in change.added_lines(path, text))

    return citations, places & added
