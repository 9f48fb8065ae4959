"""What the core calls to run the checks of records; see `lifecycle.record_checks.Runner`."""

from orbit_enforce.coverage import enforcement
from orbit_enforce.enforce import check_text, enforce
from orbit_enforce.spec import checks_of

__all__ = ["check_text", "checks_of", "enforce", "enforcement"]
