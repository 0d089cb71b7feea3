"""What tests of several packages need."""

from __future__ import annotations

import os

import images
import pytest


@pytest.fixture(scope="session")
def podman() -> None:
    """Skip where no containers can be built and run; fail there under CI."""
    lacking = images.lacking()
    if lacking:
        missing = (
            f"no containers without {' and '.join(lacking)}: apt-get install podman runc mmdebstrap, as root"
        )
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
