"""After set-up a clone that was taken back to a commit knows nothing later; its origin speaks HTTP."""

from __future__ import annotations

import functools
import subprocess
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest
from programs import run_setup, setup, sh, tools_image

pytestmark = pytest.mark.containers

GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")


@pytest.fixture(scope="module")
def tools(containers, tmp_path_factory):
    return tools_image(containers, tmp_path_factory.mktemp("tools"))


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_arguments) -> None:
        pass


def git(folder, *arguments: str) -> str:
    done = subprocess.run([*GIT, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture(scope="module")
def origin(tmp_path_factory):
    """Serve a repository whose release 1 is followed by a fix, with branches, tags, notes and a submodule."""
    root = tmp_path_factory.mktemp("origin")
    part, work = root / "part", root / "work"
    for folder in (part, work):
        folder.mkdir()
        git(folder, "init", "-q", "-b", "main")
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=root))
    url = f"http://127.0.0.1:{server.server_port}"

    def commit(folder, text: str, *more: str) -> str:
        (folder / "file").write_text(text)
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", text, *more)
        return git(folder, "rev-parse", "HEAD")

    part_base = commit(part, "part 1")
    ids = {"first": commit(work, "first")}
    git(work, "tag", "-a", "v0.1", "-m", "v0.1")
    git(work, "submodule", "add", "-q", str(part), "part")
    git(work, "config", "-f", ".gitmodules", "submodule.part.url", f"{url}/part.git")
    ids["base"] = commit(work, "base")
    git(work, "tag", "light")
    git(work, "checkout", "-q", "-b", "old", "HEAD~1")
    git(work, "checkout", "-q", "-b", "feature", "main")
    ids["feature"] = commit(work, "feature")
    git(work, "checkout", "-q", "main")
    ids["fix"] = commit(work, "the fix")
    git(work, "tag", "-a", "v0.2", "-m", "v0.2")
    git(work, "notes", "add", "-m", "see the fix", ids["base"])
    ids["notes"] = git(work, "rev-parse", "refs/notes/commits")
    ids["last"] = commit(work, "last")
    ids["part fix"] = commit(part, "part 2")
    for name, folder in (("part", part), ("work", work)):
        git(root, "clone", "-q", "--mirror", str(folder), str(root / f"{name}.git"))
        git(root / f"{name}.git", "update-server-info")
        git(root / f"{name}.git", "config", "uploadpack.allowAnySHA1InWant", "true")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield SimpleNamespace(
        url=f"{url}/work.git",
        part_base=part_base,
        **{name.replace(" ", "_"): value for name, value in ids.items()},
    )
    server.shutdown()
    server.server_close()


LATER = ("fix", "feature", "notes", "last", "part_fix")


def seen(container, folder: str, origin) -> dict[str, str]:
    """Return what a search for later history finds in a clone, by the way that it was looked for."""
    later = [getattr(origin, name) for name in LATER]
    kept = " ".join(f"-e {each}" for each in (origin.base, origin.first, origin.part_base))
    ways = {
        "log": f"git log --all --format=%H | grep -v {kept}",
        "reflog": "git reflog --all",
        "stash": "git stash list",
        "tags": "git tag --no-merged HEAD",
        "branches": "git branch --all --no-merged HEAD",
        "remotes": "git remote -v; git config --get-regexp '^(remote|branch)[.]'",
        # of a partial clone fsck calls unreachable what is an ancestor
        "unreachable": "git rev-list --objects --missing=allow-any HEAD | cut -c1-40 >/tmp/all; "
        "git fsck --unreachable --no-reflogs --full 2>&1 | grep -v ^notice | grep -vFf /tmp/all",
        "files": "grep -rlaF " + " ".join(f"-e {each}" for each in later) + " $(git rev-parse --git-dir)",
        "objects": f"for id in {' '.join(later)}; do git cat-file -e $id 2>/dev/null && echo $id; done",
        "state": "cd $(git rev-parse --git-dir); ls FETCH_HEAD ORIG_HEAD objects/info/alternates 2>/dev/null",
    }
    script = "".join(f"echo '== {way}'; (cd {folder} && {command})\n" for way, command in ways.items())
    out = container.execute(
        ["sh", "-c", script],
        env={"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"},
    )
    parts = (part.partition("\n") for part in out.stdout.decode().split("== ")[1:])
    return {way: found for way, _, found in parts if found.strip()}


AUTHOR = tuple((f"GIT_{who}_{what}", "a") for who in ("AUTHOR", "COMMITTER") for what in ("EMAIL", "NAME"))


def test_the_search_finds_what_an_uncut_clone_holds(containers, tools, origin):
    command = f"""
        git clone -q {origin.url} /app && cd /app && git checkout -q {origin.base}
        echo x >>file && git stash -q
        git fetch -q origin refs/notes/*:refs/notes/* && git reset -q --hard && git branch -q -D main
    """
    with containers.started(tools) as container:
        container.execute(["sh", "-c", command], env=dict(AUTHOR))
        found = seen(container, "/app", origin)
    assert set(found) == {
        "log",
        "reflog",
        "stash",
        "tags",
        "branches",
        "remotes",
        "files",
        "objects",
        "state",
    }


def test_a_full_clone_taken_back_to_a_commit_keeps_what_came_before_it(containers, tools, origin):
    steps = [
        f"git clone -q {origin.url} /app",
        f"cd /app && git checkout -q {origin.base} && git submodule update -q --init",
        "cd /app && echo x >>file && git stash -q",
        "cd /app && git fetch -q origin refs/notes/*:refs/notes/* && git gc -q && touch own && git add own",
    ]
    look = """
        cd /app; git describe --tags; git describe; git rev-list --count HEAD; git status --short
        git -C part log --format=%H; git fsck --strict
        git commit -q --allow-empty -m x && git log --format=%s -1
    """
    made = setup(*(sh(line, text, environment=AUTHOR) for line, text in enumerate(steps, 1)))
    with containers.started(tools) as container:
        done = run_setup(container, made)
        assert done.returncode == 0, done.stderr.decode()
        assert seen(container, "/app", origin) == {}
        assert seen(container, "/app/part", origin) == {}
        shown = container.execute(["sh", "-c", look], env=dict(AUTHOR)).stdout.decode().splitlines()
        assert shown == ["light", f"v0.1-1-g{origin.base[:7]}", "2", "A  own", origin.part_base, "x"]


CHECKOUT = "git clone -q {url} {to} && cd {to} && git checkout -q {base}"
CLONES = {
    "reset": "git clone -q {url} {to} && git -C {to} reset -q --hard {base}",
    "branch": "git clone -q {url} {to} && cd {to} && git checkout -q -b work {base}",
    "tag": "git clone -q -b light {url} {to}",
    "single": "git clone -q --single-branch -b main {url} {to} && git -C {to} checkout -q {base}",
    "fetch": "git init -q {to} && cd {to} && git fetch -q {url} '+refs/*:refs/x/*' && git checkout -q {base}",
    "shared": "git clone -q --mirror {url} /tmp/m && git clone -q --shared /tmp/m {to} && cd {to} "
    "&& git checkout -q {base} && git repack -q -a && rm -rf /tmp/m",
    "no-remote": f"{CHECKOUT} && git remote remove origin && git gc -q",
    "separate": "git clone -q --separate-git-dir /srv/dot {url} {to} && git -C {to} checkout -q {base}",
    "kept": f"{CHECKOUT} && git gc -q && cd .git/objects/pack && for p in *.pack; do touch $p.keep "
    "${{p%.pack}}.keep; done && cd - && git commit-graph write --reachable && git multi-pack-index write",
    "trees": f"{CHECKOUT} && git worktree add -q /second light",
}


def test_every_way_to_a_commit_ends_without_later_history(containers, tools, origin):
    made = setup(
        *(
            sh(line, command.format(url=origin.url, base=origin.base, to=f"/app/{name}"))
            for line, (name, command) in enumerate(CLONES.items(), 1)
        )
    )
    with containers.started(tools) as container:
        done = run_setup(container, made)
        assert done.returncode == 0, done.stderr.decode()
        for name in CLONES:
            assert seen(container, f"/app/{name}", origin) == {}, name
            shown = container.execute(["sh", "-c", f"cd /app/{name} && git rev-parse HEAD && git fsck"])
            assert (shown.returncode, shown.stdout.decode().strip()) == (0, origin.base), name


def test_shallow_and_partial_clones_stay_valid(containers, tools, origin):
    """These need a server that talks git's own protocol, which is started in the container."""
    url = "git://127.0.0.1:19418/work.git"
    ways = {
        "shallow": f"git init -q /app/shallow && cd /app/shallow && git remote add origin {url} "
        f"&& git fetch -q --depth 1 origin {origin.base} && git checkout -q FETCH_HEAD "
        "&& git fetch -q --depth 1 origin main",
        "partial": f"git clone -q --filter=blob:none {url} /app/partial && cd /app/partial "
        f"&& git checkout -q {origin.base}",
        "treeless": f"git clone -q --filter=tree:0 {url} /app/treeless && cd /app/treeless "
        f"&& git checkout -q {origin.base}",
    }
    serve = (
        f"git clone -q --mirror {origin.url} /srv/work.git && cd /srv/work.git "
        "&& git config uploadpack.allowFilter true && git config uploadpack.allowAnySHA1InWant true "
        "&& git daemon --base-path=/srv --export-all --listen=127.0.0.1 --port=19418 --detach && sleep 1"
    )
    command = " && ".join([serve, *(f"({each})" for each in ways.values()), "rm -rf /srv/work.git"])
    with containers.started(tools) as container:
        done = run_setup(container, setup(sh(1, command)))
        assert done.returncode == 0, done.stderr.decode()
        for name in ways:
            assert seen(container, f"/app/{name}", origin) == {}, name
            shown = container.execute(
                ["sh", "-c", f"cd /app/{name} && git status --short && git fsck && git rev-list --count HEAD"]
            )
            assert shown.stdout.strip() == (b"1" if name == "shallow" else b"2"), (name, shown)


def test_owners_stay_and_several_clones_are_all_cut(containers, tools, origin):
    clone = f"git clone -q {origin.url} DIR && git -C DIR checkout -q {origin.base}"
    made = setup(
        sh(1, clone.replace("DIR", "~/one"), user="app", workdir="/home/app"),
        sh(2, clone.replace("DIR", "'/srv/two of them'")),
    )
    with containers.started(tools) as container:
        done = run_setup(container, made)
        assert done.returncode == 0, done.stderr.decode()
        assert seen(container, "'/srv/two of them'", origin) == {}
        assert container.execute(["find", "/home/app", "!", "-user", "app"]).stdout == b""
        assert seen(container, "/home/app/one", origin) == {}


def test_what_is_not_a_clone_taken_back_is_left_alone(containers, tools, origin):
    own = """
        git init -q /own && cd /own && git commit -q --allow-empty -m one
        git commit -q --allow-empty -m 'two http://x' && git reset -q --hard HEAD~1
        git branch lost HEAD@{1}
        git init -q --bare /srv/hub && git push -q /srv/hub --all
        git clone -q -b lost /srv/hub /desk && git -C /desk checkout -q --detach HEAD~1
    """
    look = """
        git -C /tool remote; git -C /own reflog | wc -l; git -C /own branch | wc -l
        git -C /desk remote -v | wc -l; git -C /desk log --all --format=%s | grep -c two
    """
    made = setup(sh(1, f"git clone -q {origin.url} /tool"), sh(2, own, environment=AUTHOR))
    with containers.started(tools) as container:
        done = run_setup(container, made)
        assert done.returncode == 0, done.stderr.decode()
        shown = container.execute(["sh", "-c", look]).stdout.decode().split()
        assert shown == ["origin", "3", "2", "2", "1"]


APP = CHECKOUT.replace("{to}", "/app")


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (f"git clone -q {{url}} /copy && {APP}", "/copy/.git holds later history of /app/.git"),
        (f"git clone -q --mirror {{url}} /srv/m && {APP}", "/srv/m holds later history"),
        (
            "git clone -q {url} /app && git -C /app worktree add -q /old {base}",
            "one work tree is at the newest",
        ),
        (f"{APP} && touch .git/MERGE_HEAD", "MERGE_HEAD"),
        (f"{APP} && rm /usr/bin/git", "git is needed"),
    ],
    ids=["second clone", "mirror", "work tree", "merge", "no git"],
)
def test_what_cannot_be_cut_ends_the_set_up(containers, tools, origin, command, why):
    made = setup(sh(1, command.format(url=origin.url, base=origin.base)))
    with containers.started(tools) as container:
        done = run_setup(container, made)
        assert done.returncode == 1
        assert why in done.stderr.decode()
        assert container.execute(["test", "-e", "/var/lib/envfold/done"]).returncode == 1
