"""Takes over what other tools wrote: one module a format, chosen by name or by looking; nothing is lost silently."""

from orbit_registry.importers.documents import FORMATS, import_from

__all__ = ["FORMATS", "import_from"]
