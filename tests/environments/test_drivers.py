"""Why a dataset has so many snapshots: the numbers, and the laws that they keep."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from partition.environments.against import Verdict, compare, verdict_of
from partition.environments.attribution import Driver
from partition.environments.drivers import DriverEffect, Explanation, explain
from partition.environments.snapshot import content_key
from partition.errors import Fault
from partition.tasks.model import Entry, EnvironmentConfig, Kind, Spec, Task, TaskConfig, Tree


def task(
    identifier: str, dockerfile: str | None, config: EnvironmentConfig | None = None, **files: str
) -> Task:
    contents = {name.replace("__", "."): text for name, text in files.items()}
    if dockerfile is not None:
        contents["Dockerfile"] = dockerfile
    entries = [Entry(path="environment", kind=Kind.DIRECTORY)]
    for name, text in contents.items():
        data = text.encode()
        entries.append(Entry(path=f"environment/{name}", source=data, size=len(data)))
    tree = Tree(tuple(sorted(entries, key=lambda entry: entry.path)), name=identifier)
    settings = TaskConfig(environment=config or EnvironmentConfig())
    return Task(id=identifier, where=f"data/{identifier}", files=tree, config=settings)


def dataset(*dockerfiles: str) -> list[Task]:
    return [task(f"t{number}", dockerfile) for number, dockerfile in enumerate(dockerfiles)]


def left(explanation: Explanation) -> dict[Driver, tuple[int, int]]:
    return {each.driver: (each.alone, each.cumulative) for each in explanation.drivers}


def effect(explanation: Explanation, driver: Driver) -> DriverEffect:
    return next(each for each in explanation.drivers if each.driver is driver)


def only(explanation: Explanation) -> list[Driver]:
    """Return the drivers that alone would leave one snapshot."""
    return [each.driver for each in explanation.drivers if each.alone == 1]


def test_a_checkout_in_the_last_line_is_the_clone_driver() -> None:
    """One environment per repository is left when only `git checkout <id>` differs."""
    head = "FROM python:3.9\nRUN git clone https://github.com/a/b.git /app\nWORKDIR /app\n"
    explanation = explain(dataset(*(f"{head}RUN git checkout {number:040x}\n" for number in range(6))))
    assert (explanation.snapshots, only(explanation)) == (6, [Driver.CLONE])
    examples = effect(explanation, Driver.CLONE).examples
    assert examples[0].where == "data/t0/environment/Dockerfile:4"
    assert examples[0].text.startswith("RUN git checkout 0000")


def test_a_variable_that_only_the_checkout_uses_belongs_to_it() -> None:
    explanation = explain(
        dataset(*(f"FROM x\nARG SHA={sha}\nENV REV=$SHA\nRUN git checkout $REV\n" for sha in ("a1", "b2")))
    )
    assert only(explanation) == [Driver.CLONE]


def test_copied_files_are_their_contents_even_where_the_dockerfile_is_one() -> None:
    tasks = [
        task(f"t{n}", "FROM x\nCOPY seed.csv /\n", seed__csv=str(n), README__md="same") for n in range(4)
    ]
    explanation = explain(tasks)
    assert (explanation.snapshots, only(explanation)) == (4, [Driver.FILES])
    assert effect(explanation, Driver.FILES).examples[0].text == "seed.csv (contents differ)"
    assert effect(explanation, Driver.FILES).values == 4


def test_a_run_of_mixed_commands_is_split() -> None:
    """Each driver of one RUN folds alone, whichever place it has in the chain."""
    apt, clone, pip = "apt-get install -y {}", "git clone https://g.org/o/{} /app", "pip install p=={}"
    for place, (driver, command) in enumerate(((Driver.APT, apt), (Driver.CLONE, clone), (Driver.PIP, pip))):
        values = [["x", "x", "x"] for _ in range(3)]
        for number, value in enumerate(values):
            value[place] = f"v{number}"
        chains = [" && ".join((apt.format(a), clone.format(c), pip.format(p))) for a, c, p in values]
        explanation = explain(dataset(*(f"FROM x\nRUN {chain}\n" for chain in chains)))
        assert (explanation.snapshots, only(explanation)) == (3, [driver]), command


def test_a_missing_command_in_a_chain_is_a_difference_of_its_driver_alone() -> None:
    explanation = explain(
        dataset(
            "FROM x\nRUN apt-get update && git clone https://g.org/o/r\n",
            "FROM x\nRUN git clone https://g.org/o/r\n",
            "FROM x\nRUN git clone https://g.org/o/r && apt-get update\n",
        )
    )
    assert only(explanation) == [Driver.APT]


def test_comments_white_space_and_spelling_are_layout() -> None:
    explanation = explain(
        dataset(
            "FROM x\nRUN apt-get install -y a b\n",
            "FROM x\nRUN apt-get install -y a b",
            "FROM x\n\n# why\nRUN apt-get install \\\n  -y 'a' \\\n  # inside\n  b\n",
            "from x\r\nrun apt-get   install -y a b\r\n",
        )
    )
    assert (explanation.snapshots, only(explanation)) == (4, [Driver.LAYOUT])
    assert [each.values for each in explanation.drivers[:-1]] == [1] * 7


def test_a_comment_that_names_the_task_hides_the_fall_only_from_the_raw_numbers() -> None:
    explanation = explain(dataset(*(f"# task {n}\nFROM x\nRUN git checkout {n:040x}\n" for n in range(5))))
    clone = effect(explanation, Driver.CLONE)
    assert (clone.alone, clone.cumulative, clone.normalised) == (5, 5, 1)


def test_the_order_between_drivers_is_layout_and_the_order_inside_one_is_not() -> None:
    apt, pip, more = "RUN apt-get install -y a\n", "RUN pip install p\n", "RUN apt-get install -y b\n"
    explanation = explain(dataset(f"FROM x\n{apt}{pip}", f"FROM x\n{pip}{apt}"))
    assert only(explanation) == [Driver.APT, Driver.PIP, Driver.LAYOUT]
    explanation = explain(dataset(f"FROM x\n{apt}{more}", f"FROM x\n{more}{apt}"))
    assert only(explanation) == [Driver.APT]


def test_each_kind_of_difference_has_its_driver() -> None:
    base = "FROM python:3.9\nRUN make\nENV A=1\n"
    variants = {
        Driver.BASE: base.replace("3.9", "3.10"),
        Driver.RUN: base.replace("make", "make all"),
        Driver.SETTINGS: base.replace("A=1", "A=2"),
        Driver.FILES: base + "COPY a b\n",
        Driver.CLONE: base + "RUN git clone u\n",
    }
    for driver, other in variants.items():
        assert only(explain(dataset(base, other))) == [driver]


def test_tasks_that_share_a_snapshot_count_once_and_broken_ones_are_reported() -> None:
    tasks = [
        task("a", "FROM x\n"),
        task("b", "FROM x\n"),
        task("broken", "RUN x\n>>> y\n"),
        task("broken-too", "RUN x\n>>> y\n"),
        task("prebuilt", None, EnvironmentConfig(docker_image="img")),
        task("compose", "FROM x\n", **{"docker-compose__yaml": "services: {}"}),
        Fault(where="data/gone", what="cannot be read", task="gone"),
    ]
    explanation = explain(tasks)
    assert (explanation.tasks, explanation.explained, explanation.snapshots) == (7, 2, 1)
    assert dict(explanation.apart) == {"prebuilt image": 1, "compose": 1}
    assert [(fault.task, fault.where) for fault in explanation.faults] == [
        ("broken", "data/broken/environment/Dockerfile"),
        ("broken", "data/broken/environment/Dockerfile:1"),
        ("broken", "data/broken/environment/Dockerfile:2"),
        ("broken-too", "data/broken-too/environment/Dockerfile"),
        ("broken-too", "data/broken-too/environment/Dockerfile:1"),
        ("broken-too", "data/broken-too/environment/Dockerfile:2"),
        ("gone", "data/gone"),
    ]


def test_bytes_that_are_no_text_are_a_fault_of_one_task() -> None:
    bad = task("bad", "FROM x\n")
    entries = (Entry(path="environment/Dockerfile", source=b"FROM x\n\xff\n", size=9),)
    explanation = explain([Task(id="bad", where="data/bad", files=Tree(entries)), *dataset("FROM x\n")])
    assert bad.id == explanation.faults[0].task
    assert explanation.faults[0].where == "data/bad/environment/Dockerfile:2"
    assert explanation.snapshots == 1


def test_a_spec_table_has_one_environment_per_distinct_row() -> None:
    specs = [
        Spec(repo="a/b", version="1", python="3.9", pip=("Numpy==1",)),
        Spec(repo="a/b", version="1", python="3.9", pip=("numpy == 1",), created_at="2020-01-01"),
        Spec(repo="a/b", version="1", python="3.9", apt=("git",), pip=("numpy==1",)),
        Spec(repo="a/c", version="1", python="3.9", pip=("numpy==1",)),
    ]
    explanation = explain(
        Task(id=str(number), where=f"s.csv:{number}", spec=spec) for number, spec in enumerate(specs, 2)
    )
    assert explanation.specs
    assert explanation.snapshots == 4
    assert effect(explanation, Driver.LAYOUT).alone == 3
    assert effect(explanation, Driver.CLONE).examples[0].where == "s.csv:2"


pieces = {
    "base": st.sampled_from(("python:3.9", "python:3.10")),
    "clone": st.sampled_from(("", "git clone u1", "git clone u1 && cd u1 && git checkout c")),
    "apt": st.sampled_from(("", "apt-get install -y a", "apt-get update; apt-get install -y a b")),
    "pip": st.sampled_from(("", "pip install p", "pip install $V")),
    "run": st.sampled_from(("", "make", "if t; then make; fi")),
    "env": st.sampled_from(("", "ENV V=1\n", "ARG V=2\n", "WORKDIR /w\n")),
    "comment": st.sampled_from(("", "# one\n", "\n\n", "# two\n\n")),
    "file": st.sampled_from(("", "x", "y")),
    "joined": st.booleans(),
    "newline": st.booleans(),
}


@st.composite
def generated(draw: st.DrawFn) -> list[Task]:
    tasks = []
    for number in range(draw(st.integers(1, 12))):
        value = {name: draw(strategy) for name, strategy in pieces.items()}
        commands = [value[name] for name in ("apt", "clone", "pip", "run") if value[name]]
        runs = [f"RUN {' && '.join(commands)}\n"] if value["joined"] and commands else []
        if not value["joined"]:
            runs = [f"RUN {command}\n" for command in commands]
        text = f"FROM {value['base']}\n{value['env']}{value['comment']}{''.join(runs)}"
        text = text if value["newline"] else text.rstrip("\n")
        tasks.append(task(f"t{number}", text, **({"f__txt": value["file"]} if value["file"] else {})))
    return tasks


@settings(derandomize=True, deadline=None, max_examples=300)
@given(generated())
def test_folding_more_never_leaves_more_snapshots(tasks: list[Task]) -> None:
    explanation = explain(tasks)
    assert explanation.snapshots == len({content_key(each.environment) for each in tasks})
    effects = explanation.drivers
    assert [each.driver for each in effects] == list(Driver)
    for before, after in pairwise(effects):
        assert after.cumulative <= before.cumulative
        assert after.normalised <= before.normalised
    for each in effects:
        assert 1 <= each.alone <= explanation.snapshots
        assert each.cumulative <= each.alone or each.driver is Driver.LAYOUT
        assert each.normalised <= each.cumulative or each.driver is Driver.LAYOUT
        assert each.varying < explanation.snapshots
        assert (each.values == 1) == (each.varying == 0)
    assert effects[0].cumulative == effects[0].alone
    assert effects[-1].cumulative == effects[-1].normalised == 1


@settings(derandomize=True, deadline=None, max_examples=100)
@given(generated(), st.randoms(use_true_random=False))
def test_the_order_of_the_tasks_changes_no_number(tasks: list[Task], random: object) -> None:
    shuffled = list(tasks)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    numbers = [
        [(each.values, each.alone, each.cumulative, each.normalised) for each in explain(order).drivers]
        for order in (tasks, shuffled)
    ]
    assert numbers[0] == numbers[1]


def test_a_fresh_rendering_with_few_snapshots_makes_the_artifact_stale() -> None:
    artifact = [task(f"t{n}", f"FROM x\nRUN git checkout {n:040x}\n") for n in range(10)]
    fresh = [task(f"t{n}", "FROM x\n") for n in range(3, 7)]
    comparison = compare(artifact, [*fresh, task("new", "FROM y\n")])
    assert comparison.verdict is Verdict.STALE
    assert (comparison.common, comparison.identical) == (4, 0)
    assert (comparison.artifact_snapshots, comparison.fresh_snapshots) == (4, 1)
    assert comparison.drivers == ((Driver.CLONE, 4),)
    assert (len(comparison.only_artifact), comparison.only_fresh) == (6, ("new",))
    assert comparison.differences[0].task == "t3"


def test_a_fresh_rendering_with_as_many_makes_the_patcher_the_driver() -> None:
    artifact = [task(f"t{n}", f"FROM x\nRUN pip install p=={n}\n") for n in range(6)]
    comparison = compare(artifact, artifact)
    assert (comparison.verdict, comparison.identical) == (Verdict.PATCHER, 6)
    again = [task(f"t{n}", f"# v2\nFROM x\nRUN pip install p=={n}\n") for n in range(6)]
    comparison = compare(artifact, again)
    assert (comparison.verdict, comparison.drivers) == (Verdict.PATCHER, ((Driver.LAYOUT, 6),))


def test_the_verdict_is_stale_from_half_downwards_and_needs_two_snapshots() -> None:
    assert [verdict_of(10, fresh) for fresh in (5, 6)] == [Verdict.STALE, Verdict.PATCHER]
    assert [verdict_of(artifact, 1) for artifact in (0, 1, 2)] == [Verdict.UNDECIDED] * 2 + [Verdict.STALE]


def test_faults_of_both_renderings_are_kept_and_the_others_compared() -> None:
    good = task("a", "FROM x\n")
    comparison = compare([good, task("b", "nope\n")], [good, Fault(where="other", what="broken")])
    assert (comparison.common, len(comparison.faults)) == (1, 2)
