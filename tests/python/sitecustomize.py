"""What each Python that a test starts imports first:
MkDocs compiles the theme's templates once for all tests.
"""

import os
import sys

if "mkdocs" in sys.orig_argv and "COMPILED_TEMPLATES" in os.environ:
    import jinja2

    *before, _, is_async = jinja2.Environment.__init__.__defaults__ or ()
    compiled = jinja2.FileSystemBytecodeCache(os.environ["COMPILED_TEMPLATES"])
    jinja2.Environment.__init__.__defaults__ = (*before, compiled, is_async)
