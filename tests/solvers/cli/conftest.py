"""Running a command of the solvers on a document."""

import json

import pytest

from solvers.cli.main import main


@pytest.fixture
def solved(tmp_path, capsys):
    """Return a function from command, document and options to exit status, stdout and stderr.

    A document is bytes, text, or what is JSON; stderr says FILE for its path.
    """

    def run(command, document, *options):
        path = tmp_path / "FILE"
        if not isinstance(document, bytes | str):
            document = json.dumps(document)
        path.write_bytes(document.encode() if isinstance(document, str) else document)
        status = main([command, str(path), *map(str, options)])
        said = capsys.readouterr()
        return status, said.out, said.err.replace(str(path), "FILE")

    return run
