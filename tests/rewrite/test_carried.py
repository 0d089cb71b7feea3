from __future__ import annotations

import pytest

from partition.rewrite.carried import carried


@pytest.mark.parametrize(
    ("name", "value", "is_carried"),
    [
        ("PATH", "/x", True),
        ("http_proxy", "p", True),
        ("LD_LIBRARY_PATH", "/x", True),
        ("DOCKER_HOST", "x", True),
        ("PRICE", "$5", True),
        ("A.B", "$5", False),
        ("LANG", "C.UTF-8", False),
        ("PYTHONUNBUFFERED", "1", False),
        ("MYPATH", "/x", False),
    ],
)
def test_only_what_would_change_the_host_is_carried(name, value, is_carried):
    assert carried([(name, value)]) == (((name, value),) if is_carried else ())
    assert carried([(name, value)], own={name}) == carried([(name, value)], provided={(name, value)}) == ()
