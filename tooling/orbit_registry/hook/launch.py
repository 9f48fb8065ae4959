"""What an agent's settings start: `python -I -S -E launch.py AGENT`. Compiled at each start, so it holds nothing.

It makes the package importable without a look at site-packages.
"""

import gc
import sys


def start() -> None:
    """Run the client; it ends the process."""
    gc.disable()  # a call ends before anything is worth collecting, and loading modules would set it off several times
    package = __file__.rpartition("/hook/")[0]
    sys.path.append(package.rpartition("/")[0])
    from orbit_registry.hook.client import main

    main(sys.argv[1:])


start()
