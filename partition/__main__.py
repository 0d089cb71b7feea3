"""``python -m partition`` is ``envfold``."""

import sys

from partition.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
