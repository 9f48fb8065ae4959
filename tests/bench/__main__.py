"""Runs the benchmark from the repository's root: `python -m tests.bench`, see `bench`; `… recall`, see `recall`."""

from __future__ import annotations

import sys

if sys.argv[1:2] == ["recall"]:
    from tests.bench.recall import main as recall

    sys.exit(recall(sys.argv[2:]))

from tests.bench.bench import main

sys.exit(main())
