"""Against the real index through the real uv: few tiny packages, and one cache for all tests."""

from __future__ import annotations

import datetime as dt
import io
import sys
import tarfile
from pathlib import Path

import pytest

from partition.venvs.interpreters import Interpreter
from partition.venvs.legacy import DATELESS, lock_with_pip
from partition.venvs.lock import Lock, Unlockable, lock_all
from partition.venvs.platforms import platform_of
from partition.venvs.resolving import UNDATED, kind_of
from partition.venvs.sources import apt_needs, read_source, stub_wheel
from partition.venvs.spec import VenvSpec

BOOKWORM = platform_of("debian", "bookworm")
DATE = dt.date(2022, 3, 1)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("locks")


def spec(
    *requirements: str, python: str = "3.9", as_of: dt.date | None = None, exact: bool = False
) -> VenvSpec:
    return VenvSpec(python=python, requirements=tuple(sorted(requirements)), as_of=as_of, exact=exact)


def one(asked: VenvSpec, cache: Path, **more: object) -> Lock | Unlockable:
    ((given, answer),) = lock_all([asked], cache=cache, platform=BOOKWORM, **more)
    assert given == asked == answer.spec
    return answer


def locked(asked: VenvSpec, cache: Path, **more: object) -> Lock:
    answer = one(asked, cache, **more)
    assert isinstance(answer, Lock), answer
    return answer


def unlockable(asked: VenvSpec, cache: Path, **more: object) -> Unlockable:
    answer = one(asked, cache, **more)
    assert isinstance(answer, Unlockable), answer
    return answer


def test_a_lock_is_as_of_the_task_s_date_with_hashes_and_build_bounds(cache: Path) -> None:
    lock = locked(spec("jinja2", "setuptools", as_of=DATE), cache)
    assert lock.versions == {"jinja2": "3.0.3", "markupsafe": "2.1.0", "setuptools": "60.9.3"}
    assert lock.text.startswith("jinja2==3.0.3 \\\n    --hash=sha256:")
    assert lock.notes == ()
    assert "setuptools<=60.9.3\n" in lock.build
    assert "cython<=0.29.28\n" in lock.build
    assert "hatchling<=0.18.0\n" in lock.build


def test_without_a_date_the_lock_warns(cache: Path) -> None:
    lock = locked(spec("six==1.16.0"), cache)
    assert (lock.versions, lock.notes, lock.build) == ({"six": "1.16.0"}, (UNDATED,), "")


def test_pins_newer_than_the_date_move_the_date_and_say_so(cache: Path) -> None:
    lock = locked(spec("flit-core==3.7.1", "six", as_of=dt.date(2010, 1, 1)), cache)
    assert lock.versions == {"flit-core": "3.7.1", "six": "1.16.0"}
    assert lock.notes == ("pins of 2022-02-23 are newer than 2010-01-01: resolved as of 2022-02-23",)


def test_a_date_before_the_package_existed_says_when_it_came(cache: Path) -> None:
    answer = unlockable(spec("flit-core>=3.7.1", as_of=dt.date(2010, 1, 1)), cache)
    assert answer.kind == "not-yet"
    assert "2010-01-01" in answer.reason


def test_source_only_packages_are_read_and_never_run(cache: Path) -> None:
    lock = locked(spec("docopt", as_of=DATE), cache)
    (package,) = lock.packages
    assert (package.version, package.source_only, lock.apt) == ("0.6.2", True, ())
    assert (package.url or "").endswith("docopt-0.6.2.tar.gz")
    assert len(package.hashes) == 1


def test_the_resolver_s_own_reason_is_given(cache: Path) -> None:
    pinned = unlockable(spec("six==1.15.0", "six==1.16.0"), cache)
    assert pinned.kind == "unsatisfiable"
    assert "you require six==1.15.0 and six==1.16.0" in pinned.reason
    vanished = unlockable(spec("six==99"), cache)
    assert vanished.kind == "vanished"
    assert "no version of six==99" in vanished.reason


def test_a_yanked_release_is_locked_with_a_warning(cache: Path) -> None:
    lock = locked(spec("attrs==21.1.0"), cache)
    assert any("`attrs==21.1.0` is yanked" in each for each in lock.notes)


def test_whole_environments_gain_nothing_and_every_release_that_is_gone_is_named(cache: Path) -> None:
    lock = locked(spec("jinja2==3.0.3", "docopt==0.6.2", exact=True), cache)
    assert lock.versions == {"docopt": "0.6.2", "jinja2": "3.0.3"}
    assert [each.name for each in lock.source_only] == ["docopt"]
    assert lock.notes == ()
    # jinja2 3.0.3 is the newest, of 2021-11-09
    assert "setuptools<=58.5.3\n" in lock.build
    answer = unlockable(spec("six==99", "attrs==99", "docopt==0.6.2", exact=True), cache)
    assert answer.kind == "vanished"
    assert "six==99" in answer.reason
    assert "attrs==99" in answer.reason


@pytest.mark.parametrize(
    "value",
    [
        "--index-url=https://evil.example",
        "-r /etc/passwd",
        "x @ git+ssh://evil.example/x",
        "six\n-r x",
        "$(id)",
    ],
)
def test_hostile_requirements_reach_no_resolver(value: str, tmp_path: Path) -> None:
    answer = unlockable(spec(value), tmp_path)
    assert answer.kind == "hostile"
    assert repr(value) in answer.reason
    assert list(tmp_path.iterdir()) == []
    assert unlockable(VenvSpec(python="3.9; x", requirements=()), tmp_path).kind == "hostile"


def test_a_second_run_needs_no_network_and_gives_the_same_bytes(cache: Path) -> None:
    asked = [spec("six==1.16.0"), spec("six==99"), spec("six==1.16.0")]
    first = list(lock_all(asked, cache=cache, platform=BOOKWORM))
    again = list(lock_all(asked, cache=cache, platform=BOOKWORM, offline=True))
    assert again == first
    assert [each for each, _ in again] == asked


def test_without_a_network_what_is_not_kept_fails_and_what_is_kept_stays(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = locked(spec("six==1.16.0"), cache)
    new = spec("iniconfig==1.1.1")
    answers = dict(lock_all([new, kept.spec], cache=cache, platform=BOOKWORM, offline=True))
    assert answers[kept.spec] == kept
    failed = answers[new]
    assert isinstance(failed, Unlockable)
    assert failed.kind == "network"
    assert locked(new, cache).versions == {"iniconfig": "1.1.1"}
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    down = unlockable(spec("six"), tmp_path)
    assert down.kind == "network"
    assert "127.0.0.1:9" in down.reason
    assert not (tmp_path / "locks").exists()


def test_an_interrupted_run_keeps_what_is_done_and_leaves_nothing_behind(tmp_path: Path, cache: Path) -> None:
    answers = lock_all([spec("six==1.16.0"), spec("six==1.15.0")], cache=cache, platform=BOOKWORM, jobs=1)
    next(answers)
    answers.close()
    assert locked(spec("six==1.16.0"), cache, offline=True).versions == {"six": "1.16.0"}
    assert list((cache / "tmp").iterdir()) == []


def test_interpreters_without_a_resolver_say_so(cache: Path) -> None:
    answer = unlockable(spec("six", python="2.7"), cache)
    assert answer.kind == "interpreter"
    assert "no Python 2.7" in answer.reason


def test_the_pip_of_a_given_interpreter_resolves_for_it(cache: Path) -> None:
    # any pip does: interpreters that uv refuses are rare
    here = Interpreter(
        minor="3.5", full="3.5.10", path=Path(sys.executable), installable=False, resolver="pip"
    )
    asked = spec("six==1.16.0", python="3.5", as_of=DATE)
    lock = lock_with_pip(asked, here, platform=BOOKWORM, cache=cache, offline=False)
    assert isinstance(lock, Lock)
    assert (lock.versions, lock.notes) == ({"six": "1.16.0"}, (DATELESS,))
    assert lock.text == locked(spec("six==1.16.0"), cache).text
    gone = lock_with_pip(spec("six==99"), here, platform=BOOKWORM, cache=cache, offline=False)
    assert isinstance(gone, Unlockable)
    assert gone.kind == "vanished"
    alpine = platform_of("alpine", "3.19")
    musl = lock_with_pip(asked, here, platform=alpine, cache=cache, offline=False)
    assert isinstance(musl, Unlockable)
    assert musl.kind == "interpreter"


def archive(**files: str) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name.replace("__", "/"))
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    return stream.getvalue()


def test_a_source_distribution_tells_needs_languages_and_build_tools() -> None:
    data = archive(**{
        "x-1__PKG-INFO": "Metadata-Version: 1.2\nName: x\nRequires-Python: >=3.6\n",
        "x-1__x.egg-info__requires.txt": "six\n[:python_version<'3']\nenum34\n[dev:os_name=='nt']\npytest\n",
        "x-1__pyproject.toml": "[build-system]\nrequires = ['Cython<3', 'setuptools>=40']\n",
        "x-1__src__x.pyx": "",
        "x-1__tests__t.rs": "",
    })  # fmt: skip
    source = read_source(data, "x-1.tar.gz")
    assert source.requires == (
        'enum34; python_version < "3"',
        'pytest; os_name == "nt" and extra == "dev"',
        "six",
    )
    assert (source.requires_python, source.languages) == (">=3.6", ("c",))
    assert source.build == ("cython", "setuptools")
    assert apt_needs([("lxml", source)]) == ("gcc", "libc6-dev", "libxml2-dev", "libxslt1-dev")
    name, wheel = stub_wheel("x", "1", source)
    assert name == "x-1-py2.py3-none-any.whl"
    assert stub_wheel("x", "1", source) == (name, wheel)


@pytest.mark.parametrize("data", [b"", b"not an archive", b"\x1f\x8b\x08\x00broken"])
def test_a_damaged_source_distribution_tells_nothing(data: bytes) -> None:
    for name in ("x.tar.gz", "x.zip"):
        assert read_source(data, name).requires is None


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("error sending request for url", "network"),
        ("hint: Packages were unavailable because the network was disabled.", "network"),
        ("`x` was filtered by `exclude-newer` to only include packages", "not-yet"),
        ("Because x was not found in the package registry", "vanished"),
        ("Because there is no version of x==1 and you require x==1", "vanished"),
        ("hint: Wheels are required for `x` because", "source"),
        ("Because x==1 depends on y<2", "unsatisfiable"),
    ],
)
def test_failures_are_told_apart(words: str, kind: str) -> None:
    assert kind_of(words) == kind
