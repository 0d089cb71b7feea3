"""``python -m solvers``: the solvers without the rest of envfold."""

import sys

from solvers.cli.interrupt import end_on_interrupt

end_on_interrupt()

from solvers.cli.main import main  # noqa: E402 - loads the numerical libraries

sys.exit(main())
