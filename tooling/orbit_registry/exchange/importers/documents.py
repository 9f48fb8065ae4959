"""Import of decision documents in the formats of `formats.adr`: choose the files, adopt them,
report.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from orbit_registry.errors import ForeignWorkspaceError, UsageError
from orbit_registry.exchange.importers.lessons import STORES
from orbit_registry.operations.adoption import adopt
from orbit_registry.operations.document_choice import choose
from orbit_registry.operations.import_notes import Project, report_of
from orbit_registry.operations.import_report import TakeoverReport
from orbit_registry.workspace.workspace import ORBIT, Workspace, find_workspace


@dataclass(frozen=True, slots=True)
class DocumentImporter:
    """Importer of decision documents."""

    name: str = "documents"
    on_step: Callable[[str, int, int], None] = lambda step, done, of: None
    """Gets what is done next, how many documents are read, and how many there are."""
    remembered: Mapping[str, str] = field(default_factory=dict)
    """Ids that decisions had where they were imported before, by uid and by path."""

    def detects(self, path: Path) -> bool:
        """Say that any other file or folder may hold documents."""
        return True

    def run(self, path: Path, start: Path, *, assume: str | None, dry_run: bool) -> TakeoverReport:
        """Make a record for each decision below `path` that has none."""
        workspace = _workspace_around(path)
        try:
            within = path.resolve().relative_to(workspace.root.resolve()).as_posix()
        except ValueError:
            raise UsageError(
                f"{path} is not in {workspace.root}", hint="documents are adopted in their folder"
            ) from None

        choice = choose(workspace, within)
        outcomes = adopt(
            workspace,
            choice.documents,
            by_name=[within],
            assume=assume,
            dry_run=dry_run,
            on_step=self.on_step,
            remembered=self.remembered,
        )
        stores = [store for store in STORES if within == "." and (workspace.root / store).is_dir()]
        adr = workspace.config.adr
        design = workspace.config.design
        project = Project(path.is_dir(), adr.log, design, choice.dropped, stores)
        return report_of(within, (*choice.left, *outcomes), project, dry_run=dry_run)


def _workspace_around(path: Path) -> Workspace:
    try:
        return find_workspace(path if path.is_dir() else path.parent)
    except ForeignWorkspaceError as error:  # its own hint would be to import
        if "orbit init" in error.hint:  # the records are of Orbit
            raise

        hint = (
            f"its {ORBIT}/ is of no tool that is known here: rename it, run `orbit init`, "
            f"then import again"
        )
        raise ForeignWorkspaceError(error.message, hint=hint) from None


DOCUMENTS = DocumentImporter()
IMPORTERS = (DOCUMENTS,)
