"""What an agent's settings start: `python -I -S -E launch.py AGENT`. Compiled at each start, so it holds nothing.

It makes the package importable without a look at site-packages, and takes its modules from one file where that fits.
"""

import gc
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def start() -> None:
    """Run the client; it ends the process."""
    gc.disable()  # a call ends before anything is worth collecting, and loading modules would set it off several times
    package = __file__.rpartition("/push/")[0]
    sys.path.append(package.rpartition("/")[0])
    try:
        import posix
        from marshal import loads

        file = posix.open(f"{package}/push/__pycache__/calls.{sys.implementation.cache_tag}.pyc", posix.O_RDONLY)
        load, modules, dialects = loads(posix.read(file, 1 << 20))
        make: Callable[..., Callable[..., None]] = type(start)
        make(load, {})(package, modules, dialects, sys.argv[1])
    except (OSError, EOFError, LookupError, TypeError, ValueError):
        pass  # there is none that fits: the modules are imported like any others
    from orbit_registry.push.client import main

    main(sys.argv[1:])


start()
