"""``python -m partition`` is ``envfold``."""

import sys

from partition.cli.main import main

sys.exit(main())
