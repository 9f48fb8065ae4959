"""Import of decision documents in the formats of `formats.adr`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from orbit_registry.errors import ForeignWorkspaceError, UsageError
from orbit_registry.operations.adoption import OnStep, Order, import_documents
from orbit_registry.operations.import_report import TakeoverReport
from orbit_registry.workspace.workspace import ORBIT, Workspace, find_workspace


@dataclass(frozen=True, slots=True)
class DocumentImporter:
    """Importer of decision documents."""

    name: str = "documents"
    on_step: OnStep = lambda step, done, of: None
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

        order = Order(
            by_name=[within],
            assume=assume,
            dry_run=dry_run,
            on_step=self.on_step,
            remembered=self.remembered,
        )
        return import_documents(workspace, within, order)


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
