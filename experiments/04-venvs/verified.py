"""SWE-bench Verified in one image: ``python verified.py FACTS WORK [STAGE ...]``.

The exact environments of its 500 tasks, each with its own interpreter and versions, as virtual environments
of one image that podman builds. Stages, each with raw lines in ``results/``; what is there is not done again:

locks
    one lock for each distinct environment; what the index has no longer is left out by name
sources
    each source-only package built once in the base image, as it would be in the image
predict
    bytes of the image, written down before it is built
build
    the image itself
check
    each venv imports its packages; `pip check`
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from partition.apt.bases import base_with
from partition.apt.closure import closure
from partition.apt.index import open_index
from partition.venvs.artefacts import Package
from partition.venvs.layout import VENVS
from partition.venvs.lock import Lock, lock_all
from partition.venvs.platforms import platform_of
from partition.venvs.render import UV, BakedVenv, rendered
from partition.venvs.spec import VenvSpec, exact_spec
from partition.venvs.wheels import layer_bytes, sizes_of

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "tests" / "support"))

import images  # noqa: E402 - found once its folder is on the path

RESULTS = HERE / "results"
PYTHONS = ("3.6", "3.7", "3.8", "3.9", "3.10", "3.11")
RELEASE = ("debian", "bookworm")
TAG = "localhost/envfold-verified"
SYSTEM = ("curl", "git", "jq", "libffi-dev", "libtiff-dev", "locales", "locales-all", "tzdata", "wget")
"""What the harness installs for every Python task, without interpreter and compiler: the base has those."""
BUILD_SECONDS = 240
"""A source-only package that takes longer is left out."""

_REQUIRED = re.compile(r"you require ([\w.-]+)==|no version of ([\w.-]+)==|([\w.-]+)==\S+ has no")


@dataclass(kw_only=True)
class Env:
    """One distinct environment.

    Parameters
    ----------
    gone
        Packages that the index no longer has, or that have no counterpart there.
    unbuilt
        Source-only packages that do not build in the base image.
    """

    name: str
    python: str
    tasks: list[str]
    packages: int = 0
    gone: list[str] = field(default_factory=list)
    unbuilt: list[str] = field(default_factory=list)
    source_only: list[str] = field(default_factory=list)
    apt: list[str] = field(default_factory=list)
    why: str = ""


def lines(name: str) -> list[dict]:
    path = RESULTS / name
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def note(name: str, row: dict) -> None:
    with (RESULTS / name).open("a") as stream:
        stream.write(json.dumps(row) + "\n")
    sys.stderr.write(f"{name}: {json.dumps(row)[:200]}\n")


def environments(facts: Path) -> list[tuple[Env, VenvSpec | None]]:
    """Return the distinct environments, named by their first task."""
    found: dict[VenvSpec | str, tuple[Env, VenvSpec | None]] = {}
    for line in (facts / "verified_resolved_envs.jsonl").read_text().splitlines():
        row = json.loads(line)
        derived = exact_spec(python=row["python"], pip=row["pip"], conda=row["conda"])
        spec = derived.spec
        key = spec or row["pkgset_sha"]
        name = row["instance_id"].partition("__")[2].lower()
        env, _ = found.setdefault(
            key, (Env(name=name, python=spec.python if spec else row["python"], tasks=[]), spec)
        )
        env.tasks.append(row["instance_id"])
        env.gone = sorted({*env.gone, *(fault.what for fault in derived.faults)})
    return list(found.values())


def locks(facts: Path, work: Path) -> None:
    """Lock every environment; packages that the index lacks are left out, and named."""
    (work / "locks").mkdir(parents=True, exist_ok=True)
    done = {row["name"] for row in lines("verified_environments.jsonl")}
    open_ = [(env, spec) for env, spec in environments(facts) if env.name not in done]
    asked = {spec: env for env, spec in open_ if spec}
    while asked:
        again: dict[VenvSpec, Env] = {}
        for spec, answer in lock_all(list(asked), cache=work / "cache", platform=platform_of(*RELEASE)):
            env = asked[spec]
            if isinstance(answer, Lock):
                env.packages = len(answer.packages)
                env.source_only = [f"{each.name}=={each.version}" for each in answer.source_only]
                env.apt = list(answer.apt)
                (work / "locks" / f"{env.name}.txt").write_text(answer.text)
                note("verified_environments.jsonl", asdict(env))
                continue
            missing = {name for match in _REQUIRED.finditer(answer.reason) for name in match.groups() if name}
            kept = tuple(each for each in spec.requirements if each.partition("==")[0] not in missing)
            if answer.kind != "vanished" or kept == spec.requirements:
                env.why = f"{answer.kind}: {answer.reason}"
                note("verified_environments.jsonl", asdict(env))
                continue
            env.gone += sorted(set(spec.requirements) - set(kept))
            again[VenvSpec(python=spec.python, requirements=kept, exact=True)] = env
        asked = again


def sources(work: Path) -> None:
    """Build each source-only package where the image will: with today's tools, else its environment's own."""
    done = {(row["python"], row["package"]) for row in lines("verified_sources.jsonl")}
    wanted: dict[tuple[str, str], str] = {}
    for env in lines("verified_environments.jsonl"):
        for package in env["source_only"]:
            wanted.setdefault((env["python"], package), env["name"])
    base = system_image(work)
    (work / "source-cache").mkdir(exist_ok=True)
    for (python, package), name in sorted(wanted.items()):
        if (python, package) in done:
            continue
        start = time.monotonic()
        tools = ""
        why = built(base, work, python, package, tools)
        if why and not why.startswith("not built in"):
            tools = own_tools(work, name)
            why = built(base, work, python, package, tools)
        seconds = round(time.monotonic() - start)
        row = {
            "python": python,
            "package": package,
            "ok": not why,
            "seconds": seconds,
            "build": tools,
            "why": why,
        }
        note("verified_sources.jsonl", row)


def own_tools(work: Path, name: str) -> str:
    """Return the build tools of an environment as constraints: what it has, its packages were built with."""
    text = (work / "locks" / f"{name}.txt").read_text()
    found = re.findall(r"^((?:setuptools|wheel|cython|numpy)==\S+)", text, flags=re.MULTILINE)
    return "".join(f"{each}\n" for each in found)


def built(base: str, work: Path, python: str, package: str, tools: str) -> str:
    """Build one package in a container; return why it cannot be, or nothing."""
    (work / "source-cache" / "tools.txt").write_text(tools)
    script = (
        f"{images.interpreter_path('3.11')} -m venv /opt/uv && /opt/uv/bin/pip install -q uv=={UV} && "
        f"/opt/uv/bin/uv venv -q --no-project --python {images.interpreter_path(python)} /opt/v && "
        f"/opt/uv/bin/uv pip install --no-deps --python /opt/v/bin/python --build-constraints "
        f"/root/.cache/uv/tools.txt --no-binary {package.partition('==')[0]} {package}"
    )
    command = [
        "podman",
        "run",
        "--rm",
        "--network=host",
        f"--volume={work / 'source-cache'}:/root/.cache/uv",
        base,
    ]
    ended = subprocess.run(
        [*command, "timeout", str(BUILD_SECONDS), "sh", "-ec", script],
        capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    if ended.returncode == 124:
        return f"not built in {BUILD_SECONDS} s"
    return ended.stderr[-600:] if ended.returncode else ""


def system(work: Path) -> list[str]:
    """Return the system packages of the image: the harness's, the specs', and what builds need."""
    envs = lines("verified_environments.jsonl")
    specs = json.loads((work / "specs-apt.json").read_text())
    return sorted({*SYSTEM, *specs, *(name for env in envs for name in env["apt"])})


def specs_apt(facts: Path, work: Path) -> None:
    """Keep the union of the system packages that the harness's specs of these repositories name."""
    rows = [json.loads(line) for line in (facts / "verified_resolved_envs.jsonl").read_text().splitlines()]
    wanted = {(row["repo"], row["version"]) for row in rows}
    found: set[str] = set()
    for line in (facts / "specs.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row["dataset"] == "swebench" and (row["repo"], row["version"]) in wanted:
            found.update(row["apt"])
    work.mkdir(parents=True, exist_ok=True)
    (work / "specs-apt.json").write_text(json.dumps(sorted(found)))


def system_image(work: Path) -> str:
    """Make the base image with the system packages; the first layer of the image."""
    tag = f"{TAG}-system"
    if subprocess.run(["podman", "image", "exists", tag], check=False).returncode:
        folder = work / "system"
        folder.mkdir(parents=True, exist_ok=True)
        text = f"FROM {images.make_interpreters(*PYTHONS)}\n\n{apt_run(work)}\n"
        (folder / "Dockerfile").write_text(text)
        build(folder, tag, work / "system.log")
    return tag


def apt_run(work: Path) -> str:
    """Return the one installation of system packages."""
    packages = " \\\n        ".join(system(work))
    return (
        "RUN apt-get update \\\n    && DEBIAN_FRONTEND=noninteractive "
        "apt-get install -y --no-install-recommends"
        f" \\\n        {packages} \\\n    && apt-get clean \\\n    && rm -rf /var/lib/apt/lists/*"
    )


def build(folder: Path, tag: str, log: Path) -> float:
    """Build an image; return the seconds that it took."""
    start = time.monotonic()
    options = ("--isolation=chroot", "--network=host", "--pull=never", "--format=docker", f"--tag={tag}")
    with log.open("wb") as stream:
        subprocess.run(["podman", "build", *options, folder], check=True, stdout=stream, stderr=stream)
    return time.monotonic() - start


def size_of(tag: str) -> int:
    shown = subprocess.run(
        ["podman", "image", "inspect", "--format", "{{.Size}}", tag],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(shown.stdout)


def chosen(work: Path) -> list[tuple[dict, list[str]]]:
    """Return each environment with the lines of its lock that install, and note what does not."""
    rows = {(row["python"], row["package"]): row for row in lines("verified_sources.jsonl")}
    found = []
    for env in lines("verified_environments.jsonl"):
        if env["why"]:
            continue
        text = (work / "locks" / f"{env['name']}.txt").read_text()
        entries = re.findall(r"^\S.*(?:\n    .*)*", text, flags=re.MULTILINE)
        mine = {package: rows[env["python"], package] for package in env["source_only"]}
        env["unbuilt"] = sorted(package for package, row in mine.items() if not row["ok"])
        env["build"] = max((row.get("build", "") for row in mine.values() if row["ok"]), default="")
        kept = [entry for entry in entries if entry.split()[0] not in env["unbuilt"]]
        found.append((env, kept))
    return found


def predict(work: Path) -> None:
    """Write down the bytes of the image, before it is built."""
    if lines("verified_prediction.jsonl"):
        return
    base = images.make_interpreters(*PYTHONS)
    listed = subprocess.run(
        ["podman", "run", "--rm", base, "dpkg-query", "-W", "-f", "${Package} ${Version}\n"],
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    index = open_index(RELEASE[1], work / "cache" / "apt")
    held = base_with(zip(listed[::2], listed[1::2], strict=True), index)
    apt = closure(system(work), index, base=held)
    venvs, errors = [], {}
    for env, entries in chosen(work):
        packages = [Package(*entry.split()[0].split("==")) for entry in entries]
        sized, _ = sizes_of(
            packages, python=env["python"], platform=platform_of(*RELEASE).uv, cache=work / "cache" / "sizes"
        )
        venvs.append(sized)
        errors |= {str(package): each.error for package, each in sized.items() if each.error}
    alone = sum(layer_bytes([venv]) for venv in venvs)
    parts = {"base": size_of(base), "apt": apt.bytes, "venvs": layer_bytes(venvs)}
    note(
        "verified_prediction.jsonl",
        {
            **parts, "total": sum(parts.values()), "venvs_as_separate_trees": alone, "number": len(venvs),
            "apt_faults": [str(fault) for fault in apt.faults], "estimated": len(errors),
        },
    )  # fmt: skip


def image(work: Path) -> None:
    """Build the image, with the system packages in a layer and the venvs in another."""
    text, files = rendered(
        [
            BakedVenv(
                name=env["name"],
                python=env["python"],
                lock="".join(f"{each}\n" for each in entries),
                build=env["build"],
            )
            for env, entries in chosen(work)
        ],
        {python: images.interpreter_path(python) for python in PYTHONS},
    )
    folder = work / "image"
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    (folder / "Dockerfile").write_text(f"FROM {system_image(work)}\n\n{text}\n")
    seconds = build(folder, TAG, work / "image.log")
    row = {"seconds": round(seconds), "system": size_of(system_image(work)), "total": size_of(TAG)}
    note("verified_image.jsonl", row)


CHECK = (HERE / "imports.py").read_text()


def check(work: Path) -> None:
    """Run each venv without a network: its versions are the lock's, and its packages import."""
    done = {row["name"] for row in lines("verified_checks.jsonl")}
    todo = [(env, entries) for env, entries in chosen(work) if env["name"] not in done]
    name = "envfold-verified-check"
    subprocess.run(["podman", "rm", "--force", "--ignore", name], check=False, capture_output=True)
    start = ["podman", "run", "--detach", f"--name={name}", "--network=none", TAG, "sleep", "infinity"]
    subprocess.run(start, check=True, capture_output=True)
    for env, entries in todo:
        options = ["--env=PYTHONDONTWRITEBYTECODE=1", "--env=MPLBACKEND=agg"]
        python = f"{VENVS}/{env['name']}/bin/python"
        shown = subprocess.run(
            ["podman", "exec", *options, name, python, "-W", "ignore", "-c", CHECK],
            capture_output=True, text=True, errors="replace", check=False,
        )  # fmt: skip
        last = (shown.stdout.strip().splitlines() or [""])[-1]
        versions, broken = json.loads(last) if last.startswith("[") else ({}, {"": shown.stderr[-300:]})
        lock = dict(entry.split()[0].split("==") for entry in entries)
        differ = {
            key: [value, versions.get(key)] for key, value in lock.items() if versions.get(key) != value
        }
        found = {"packages": len(versions), "lock": len(lock), "differ": differ, "broken": broken}
        note("verified_checks.jsonl", {"name": env["name"], "tasks": len(env["tasks"]), **found})
    subprocess.run(["podman", "rm", "--force", "-t", "0", name], check=False, capture_output=True)


STAGES = {"locks": locks, "sources": sources, "predict": predict, "build": image, "check": check}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("facts", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument(
        "stages", nargs="*", default=list(STAGES), metavar="STAGE", help="default: all, in order"
    )
    options = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    work = options.work.resolve()
    specs_apt(options.facts, work)
    for stage in options.stages:
        STAGES[stage](*([options.facts] if stage == "locks" else []), work)


if __name__ == "__main__":
    main()
