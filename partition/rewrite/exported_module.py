"""The text of the module that ``envfold export`` writes, with names between ``@`` in the place of values."""

MODULE = '''"""Shared environments of a task dataset, written by `envfold export`."""

# name -> environment
ENVIRONMENTS = @ENVIRONMENTS@

# how every set-up begins, and how each goes on
COMMON = @COMMON@

SETUPS = @SETUPS@

# what containers and agents are started with
SETTINGS = @SETTINGS@

# task -> (environment, index of its set-up, index of its settings)
TASKS = @TASKS@

# (repository in lower case, version) -> its tasks
SPECS = @SPECS@

# task that keeps its own environment -> why
NOT_FOLDED = @NOT_FOLDED@


def get_specs(repo, version, task_id=None):
    """Return environment, python, apt, dockerfile, files and setups of the tasks of one (repo, version).

    `files` has (mode, bytes) for each path beside the Dockerfile, `setups` a POSIX shell script for each
    task. Tasks of one pair may be in several environments: a LookupError then names them, and `task_id` says
    which one is meant. Other LookupErrors: an unknown pair, or one whose tasks all keep their own.
    """
    pair = (repo.lower(), version or "")
    if pair not in SPECS:
        versions = [each[1] for each in SPECS if each[0] == pair[0]]
        known = "versions are %s" % ", ".join(versions) if versions else "no task is of this repository"
        raise LookupError("no task is of %s %s: %s" % (repo, version, known))
    environments = {}
    for task in SPECS[pair]:
        if task in TASKS:
            environments.setdefault(TASKS[task][0], []).append(task)
    if not environments:
        raise LookupError("%s %s is not folded: %s" % (repo, version, NOT_FOLDED[SPECS[pair][0]]))
    if task_id is not None:
        if task_id not in SPECS[pair]:
            raise LookupError("%s is no task of %s %s" % (task_id, repo, version))
        name = _task(task_id)[0]
    elif len(environments) > 1:
        each = ["%s: %s" % (name, ", ".join(environments[name])) for name in sorted(environments)]
        raise LookupError(
            "%s %s is in %d environments (%s): ask get_specs(repo, version, task_id), or"
            " dockerfile_for(task_id) and setup_for(task_id)" % (repo, version, len(each), "; ".join(each))
        )
    else:
        (name,) = environments
    return dict(ENVIRONMENTS[name], setups={task: setup_for(task) for task in environments[name]})


def dockerfile_for(task_id):
    """Return the Dockerfile of a task's environment."""
    return ENVIRONMENTS[_task(task_id)[0]]["dockerfile"]


def files_for(task_id):
    """Return what lies beside the Dockerfile: {path: (mode, bytes)}."""
    return ENVIRONMENTS[_task(task_id)[0]]["files"]


def settings_for(task_id):
    """Return workdir, env and user that a task's container and agent are started with; None: the image's."""
    return SETTINGS[_task(task_id)[2]]


def setup_for(task_id):
    """Return a task's set-up as a POSIX shell script, to be run once, as root, before the agent.

    Where the plan records no commit, the container's BASE_COMMIT names it.
    """
    return COMMON + SETUPS[_task(task_id)[1]]


def _task(task_id):
    if task_id not in TASKS:
        if task_id in NOT_FOLDED:
            raise LookupError("%s: it keeps its own environment: %s" % (task_id, NOT_FOLDED[task_id]))
        raise LookupError("%s: no such task" % task_id)
    return TASKS[task_id]
'''
"""Runs under Python 3.8; see `partition.rewrite.export.get_specs_module`."""
