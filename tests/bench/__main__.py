"""Runs a benchmark from the root: `python -m tests.bench`, or `… compare`, `… recall`,
`… right-record`, `… first-edits`, `… sites`, `… fleet`, `… collection`, `… unwritten`, `… built`.
"""

import sys

if sys.argv[1:2] == ["recall"]:
    from tests.bench.recall import main as recall

    sys.exit(recall(sys.argv[2:]))

if sys.argv[1:2] == ["right-record"]:
    from tests.bench.right_record import main as right_record

    sys.exit(right_record(sys.argv[2:]))

if sys.argv[1:2] == ["first-edits"]:
    from tests.bench.first_edits import main as first_edits

    sys.exit(first_edits(sys.argv[2:]))

if sys.argv[1:2] == ["sites"]:
    from tests.bench.sites import main as sites

    sys.exit(sites(sys.argv[2:]))

if sys.argv[1:2] == ["collection"]:
    from tests.bench.collection import main as collection

    sys.exit(collection(sys.argv[2:]))

if sys.argv[1:2] == ["fleet"]:
    from tests.bench.fleet import main as fleet

    sys.exit(fleet(sys.argv[2:]))

if sys.argv[1:2] == ["unwritten"]:
    from tests.bench.unwritten import main as unwritten

    sys.exit(unwritten(sys.argv[2:]))

if sys.argv[1:2] == ["built"]:
    from tests.bench.built import main as built

    sys.exit(built(sys.argv[2:]))

if sys.argv[1:2] == ["compare"]:
    from tests.bench.compare import main as compare

    sys.exit(compare(sys.argv[2:]))

from tests.bench.bench import main

sys.exit(main())
