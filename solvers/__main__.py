"""``python -m solvers``: the solvers without the rest of envfold."""

import sys

from solvers.cli.main import main

sys.exit(main())
