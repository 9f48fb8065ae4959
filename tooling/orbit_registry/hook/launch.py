"""Start of the hook: `python -I -S -E launch.py AGENT`.

It is short, because it is compiled at each start.
"""

import gc
import sys


def start() -> None:
    """Make the package importable without site-packages, and run the client."""
    # A call ends before anything is worth collecting, and loading modules would set it off.
    gc.disable()

    package = __file__.rpartition("/hook/")[0]
    sys.path.append(package.rpartition("/")[0])

    from orbit_registry.hook.client import main

    main(sys.argv[1:])


start()
