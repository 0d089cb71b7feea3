"""The proof with Harbor: every task of the corpus passes its oracle before folding and after it.

``python tests/fidelity/run.py --all`` builds the corpus, counts, plans, rewrites, and runs the gold solution
and an agent that does nothing on podman, before and after, in the three channels. Exit status 1 on any miss.
The trials are recorded in ``results.jsonl`` of the work folder; the same command goes on from there.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]

import corpus  # noqa: E402 - found once its folder is on the path
import images  # noqa: E402 - likewise
import trials  # noqa: E402 - likewise

ENVIRONMENTS = 4
"""After folding, at most."""
CHANNELS = ("healthcheck", "scripts", "setup-files")


def envfold(*arguments: str | Path) -> dict[str, object]:
    """Return what a command answers with ``--json``."""
    command = [sys.executable, "-m", "partition", *arguments, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"envfold {arguments[0]}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def snapshots(tree: Path) -> int:
    """Return the number of environments that a folder of tasks has."""
    return int(str(envfold("count", tree)["environment_snapshots"]))


def prepare(rows: list[corpus.Row], work: Path, cache: Path) -> None:
    """Write the source tree, its subset, and the tree that this machine's builder understands.

    podman of Debian bookworm knows no heredocs (buildah has them since 1.33): what they say is built from
    ``Dockerfile.plain`` instead, before folding only.
    """
    trees = {
        "source": (rows, False),
        "subset": ([row for row in rows if row.subset], False),
        "before": (rows, True),
    }
    for name, (chosen, plain) in trees.items():
        shutil.rmtree(work / name, ignore_errors=True)
        for row in chosen:
            corpus.build(row, work / name, cache, plain=plain)


def fold(work: Path, channel: str) -> tuple[Path, int]:
    """Return the folded tree and its number of environments."""
    source = "source" if channel == "healthcheck" else "subset"
    plan, out = work / f"{source}.json", work / channel
    if not plan.exists():
        envfold("propose", work / source, "--cap", str(ENVIRONMENTS), "--out", plan)
    if not out.exists():
        most = ("--max-environments", str(ENVIRONMENTS))
        envfold("rewrite", plan, work / source, out, "--channel", channel, *most)
    return out, snapshots(out)


def in_channel(rows: list[corpus.Row], channel: str) -> list[str]:
    """Return the tasks to run: all in the default channel, the subset in the others."""
    chosen = rows if channel == "healthcheck" else [row for row in rows if row.subset]
    return [row.id for row in chosen]


def table(rows: list[corpus.Row], ended: list[trials.Trial], phases: list[str]) -> tuple[str, int]:
    """Return the rewards, oracle/nop by phase, and the number of misses among them."""
    last = {(each.phase, each.task, each.agent.removeprefix("fork-")): each for each in ended}
    lines = [f"{'task':24} {'image':7} {'style':42} " + " ".join(f"{each:>12}" for each in phases)]
    misses = 0
    for row in rows:
        cells = []
        for phase in phases:
            if phase != "before" and row.id not in in_channel(rows, phase):
                cells.append("")
                continue
            pair = [last.get((phase, row.id, agent)) for agent in ("oracle", "nop")]
            misses += sum(each is None or each.reward != each.expected for each in pair)
            cells.append(
                "/".join("-" if each is None or each.reward is None else f"{each.reward:g}" for each in pair)
            )
        lines.append(
            f"{row.id:24} {row.image:7} {row.style[:42]:42} " + " ".join(f"{each:>12}" for each in cells)
        )
    return "\n".join(lines) + "\n", misses


def arguments() -> argparse.Namespace:
    """Return the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    chosen = parser.add_mutually_exclusive_group(required=True)
    chosen.add_argument("--all", action="store_true", help="the whole corpus")
    chosen.add_argument("--subset", action="store_true", help="those that every channel takes")
    chosen.add_argument("--only", nargs="+", metavar="TASK", help="these tasks")
    parser.add_argument("--phases", nargs="+", default=["before", *CHANNELS], choices=["before", *CHANNELS])
    parser.add_argument("--work", type=Path, help="folder to work in and to go on from; default: a new one")
    parser.add_argument("--cache", type=Path, help="folder of sdists; default: ~/.cache/envfold-fidelity")
    parser.add_argument("-n", type=int, default=2, dest="at_once", help="trials at once")
    return parser.parse_args()


def main() -> int:
    """Run what the command line says."""
    options = arguments()
    work = options.work or Path(tempfile.mkdtemp(prefix="envfold-fidelity-"))
    work = work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    cache = (
        options.cache or Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "envfold-fidelity"
    )
    rows = corpus.rows()
    if options.subset:
        rows = [row for row in rows if row.subset]
    if options.only:
        rows = [row for row in rows if row.id in options.only]
    if missing := images.lacking():
        sys.stderr.write(f"no containers without {' and '.join(missing)}\n")
        return 1
    for image in sorted({row.image for row in rows}):
        make = images.make_debian if image == "debian" else partial(images.make_python, image)
        make()
    if not (work / "source").exists():
        prepare(rows, work, cache)
    results = work / "results.jsonl"
    before = snapshots(work / "source")
    faults = [] if before == len(rows) else [f"{before} environments of {len(rows)} tasks before"]
    for phase in options.phases:
        tree, prefix = work / "before", ""
        if phase != "before":
            tree, after = fold(work, phase)
            faults += [f"{phase}: {after} environments after"] if after > ENVIRONMENTS else []
            prefix = "fork-" if phase == "setup-files" else ""
            sys.stderr.write(f"{phase}: {before} environments before, {after} after\n")
        names = [row.id for row in rows] if phase == "before" else in_channel(rows, phase)
        for agent in ("oracle", "nop"):
            trials.run(
                phase,
                tree,
                names,
                prefix + agent,
                work=work / "harbor",
                results=results,
                at_once=options.at_once,
            )
    text, misses = table(rows, trials.recorded(results), options.phases)
    sys.stdout.write(f"{text}\n{misses} misses; {work}\n")
    for fault in faults:
        sys.stderr.write(f"{fault}\n")
    return 1 if misses or faults else 0


if __name__ == "__main__":
    sys.exit(main())
