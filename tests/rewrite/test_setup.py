from __future__ import annotations

import io
import stat
import subprocess
import tarfile
from dataclasses import replace

import pytest
from programs import ROOT, file, folder, link, program, read, run_setup, setup, sh, tools_image

from partition.rewrite.carried import VARIABLES
from partition.rewrite.program import Fixed, Put, Run, State
from partition.rewrite.refusal import Refused
from partition.rewrite.setup import setup_of
from partition.tasks.model import Entry

pytestmark = pytest.mark.containers

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SHELLS = (("sh",), ("busybox", "ash"), ("bash",))


@pytest.fixture(scope="module")
def tools(containers, tmp_path_factory):
    return tools_image(containers, tmp_path_factory.mktemp("tools"))


# --- what the script is


def test_the_same_program_gives_the_same_bytes_and_another_one_another_digest():
    steps = [folder(1, "/app"), sh(2, "make")]
    assert setup(*steps).payload == setup(*steps).payload
    assert setup(*steps).digest != setup(steps[0]).digest
    assert setup(*steps).packed == setup(*steps).packed


def test_the_script_passes_the_syntax_check_of_the_shell_whatever_the_words_hold():
    odd = "a'b\"c`d$e\\f\ng é \udcff END\nEND"
    made = setup(
        sh(1, odd, environment=((("X", odd)),)), file(2, f"/{odd}", f"{odd}".encode(errors="replace"))
    )
    assert subprocess.run(["sh", "-n"], input=made.payload, check=False).returncode == 0


def test_what_only_a_build_can_do_is_refused_with_its_line():
    made = setup_of(program(sh(1, "true"), Fixed(line=7, source="ADD", state=ROOT, why="fetches a URL")))
    assert isinstance(made, Refused)
    assert "t/environment/Dockerfile:7: cannot be done in a started container: fetches a URL" in str(made)


def test_an_archive_that_is_damaged_or_holds_a_device_is_refused():
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        info = tarfile.TarInfo("dev/x")
        info.type = tarfile.CHRTYPE
        archive.addfile(info)
    for data in (buffer.getvalue(), buffer.getvalue()[:-20], b"nothing"):
        entry = Entry(path="a.tar.gz", source=data, size=len(data))
        made = setup_of(program(Put(line=3, source="ADD", state=ROOT, path="/x", entry=entry, unpack=True)))
        assert isinstance(made, Refused)
        assert ":3: " in str(made)


# --- what it does


DOCKERFILE = """\
FROM {tools}
WORKDIR /work
WORKDIR rel/deep
COPY dir ./
RUN pwd >where && id >who && umask >mask && cat >in && echo ${{LATE-unset}} >late
COPY --chown=app:games dir/big /new/place/big
USER app
WORKDIR /home/app
ENV LATE=1
RUN [ no ] || id >me; echo "$HOME $LATE" >home; ln -s /nowhere l; chmod 711 .; false; true
ENV NAME="it's \\$5"
RUN ["/bin/sh", "-c", "echo \\"$NAME\\" > \\"$1\\"", "-", "a b"]
USER app:games
RUN touch third && chmod 2775 third
USER 4321
RUN id >/tmp/fourth
"""
ODD_FILES = {
    "a file": b"x\n-",
    "big": bytes(range(256)) * 800,
    "-dash": b"\r\n\x00",
    "é'\"\nü": b"",
    "END": b"END\nEND\n",
    "run.sh": b"#!/bin/sh\necho $0 \\ `x`\n",
}


@pytest.fixture(scope="module")
def built(containers, tools, tmp_path_factory):
    """Return the image of `DOCKERFILE`, and its set-up written by hand."""
    context = tmp_path_factory.mktemp("context")
    (context / "dir" / "empty").mkdir(parents=True)
    for name, data in ODD_FILES.items():
        (context / "dir" / name).write_bytes(data)
        (context / "dir" / name).chmod({"run.sh": 0o755, "a file": 0o640}.get(name, 0o644))
    (context / "dir" / "link").symlink_to("-a file")
    (context / "Dockerfile").write_text(DOCKERFILE.format(tools=tools))
    texts = {
        number: text[4:] for number, text in enumerate(DOCKERFILE.splitlines(), 1) if text.startswith("RUN ")
    }
    deep = State(workdir="/work/rel/deep")
    app = State(environment=(("LATE", "1"),), workdir="/home/app", user="app")
    named = replace(app, environment=(("LATE", "1"), ("NAME", "it's $5")))
    words = ("/bin/sh", "-c", 'echo "$NAME" > "$1"', "-", "a b")

    def command(line: int, state: State) -> Run:
        text = texts[line].replace("{{", "{").replace("}}", "}")
        return Run(line=line, source="", state=state, argv=("/bin/sh", "-c", text))

    made = setup(
        folder(2, "/work"),
        folder(3, "/work/rel/deep"),
        *(
            file(4, f"/work/rel/deep/{name}", data, stat.S_IMODE((context / "dir" / name).stat().st_mode))
            for name, data in ODD_FILES.items()
        ),
        folder(4, "/work/rel/deep/empty", 0o755),
        link(4, "/work/rel/deep/link", "-a file"),
        command(5, deep),
        file(6, "/new/place/big", ODD_FILES["big"], owner="app:games"),
        folder(8, "/home/app"),
        command(10, app),
        Run(line=12, source="", state=named, argv=words),
        command(14, replace(named, user="app:games")),
        command(16, replace(named, user="4321")),
        environment=named.environment,
        user="4321",
        workdir="/home/app",
    )
    return containers.build(context), made


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_the_file_system_is_that_of_the_build_and_stays_so(containers, differences, tools, built, shell):
    tag, made = built
    with containers.started(tools, env={"LATE": "1", "NAME": "it's $5"}) as container:
        done = run_setup(container, made, shell=shell)
        assert done.returncode == 0, done.stderr.decode()
        assert read(container, "/var/lib/envfold/done").strip() == made.digest
        after = containers.tree_of(container)
        found = differences(containers.tree_of(tag), after)
        # buildah gives the folders above a copied file to root, BuildKit to the file's owner
        expected = {"/var/lib/envfold", "/var/lib/envfold/done", "/new", "/new/place"}
        assert set(found) <= expected, found
        assert container.execute([*shell], data=made.payload).returncode == 0
        assert differences(after, containers.tree_of(container)) == {}


def test_a_step_sees_what_was_set_by_then_and_nothing_else(containers, tools):
    made = setup(
        sh(1, "env >/first"),
        sh(2, "env >/second", environment=(("ARGUMENT", "3"), ("LATE", "early"), ("PATH", f"/own:{PATH}"))),
        environment=(("LATE", "late"), ("PATH", "/final/bin:/usr/bin:/bin"), ("HOME", "/elsewhere")),
    )
    hidden = setup_of(
        program(sh(1, "env >/first"), environment=(("LATE", "late"),)), hidden=("TOKEN", "PATH")
    )
    env = {"LATE": "late", "PATH": "/final/bin:/usr/bin:/bin", "HOME": "/elsewhere"}
    with containers.started(tools, env=env) as container:
        assert run_setup(container, made).returncode == 0
        first, second = (
            dict(line.split("=", 1) for line in read(container, path).splitlines())
            for path in ("/first", "/second")
        )
        assert "LATE" not in first
        assert first["PATH"] == PATH
        assert first["HOME"] == second["HOME"] == "/root"
        assert second.items() >= {"ARGUMENT": "3", "LATE": "early", "PATH": f"/own:{PATH}"}.items()
    with containers.started(tools, env={**env, "TOKEN": "secret"}) as container:
        assert run_setup(container, hidden).returncode == 0
        assert "TOKEN" not in read(container, "/first")


ODD = "it's \"$5\"\n'' `x` \\ é\n"
AFTER = (("BASH_ENV", "/own.sh"), ("HOME", "/home/it's"), ("ODD", ODD), ("PATH", f"/own/bin:{PATH}"))


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_commands_after_it_find_the_variables_that_the_container_could_not_be_given(containers, tools, shell):
    steps = (
        sh(1, "env >/first; echo 'sourced=1' >/own.sh"),
        sh(2, "env >/second", environment=(("PATH", f"/own/bin:{PATH}"),)),
    )
    made = setup(*steps, environment=AFTER, later=AFTER)
    show = ["bash", "-c", 'printf "%s\\0" "$PATH" "$ODD" "${BASH_ENV-}" "${sourced-}"']
    env = {"BASH_ENV": VARIABLES, "ODD": ""}
    with containers.started(tools, env=env) as container:
        before = container.execute(show).stdout.decode().split("\0")
        assert run_setup(container, made, shell=shell).returncode == 0
        assert "BASH_ENV" not in read(container, "/first")
        assert f"PATH=/own/bin:{PATH}" in read(container, "/second").splitlines()
        wanted = [f"/own/bin:{PATH}", ODD, "/own.sh", "1", ""]
        login = [*show[:1], "-l", *show[1:]]
        for command in (show, login):
            assert container.execute(command).stdout.decode().split("\0") == wanted
        assert container.execute(["bash", "-c", "bash -c 'echo $PATH'"]).stdout.decode() == f"{wanted[0]}\n"
        home = container.execute(["bash", "-c", "echo $HOME"], user="4321").stdout.decode()
        assert home == "/home/it's\n"
        # what a command is given for itself wins, as it does over an image's ENV
        given = container.execute(show, env={"PATH": f"/given:{PATH}"}).stdout.decode().split("\0")
        assert given[:2] == [f"/given:{PATH}", ODD]
        assert (
            container.execute(["sh", "-uec", f". {VARIABLES}; echo $PATH"]).stdout.decode()
            == f"{wanted[0]}\n"
        )
        assert run_setup(container, made, shell=shell).returncode == 0
        assert container.execute(show).stdout.decode().split("\0") == wanted
    assert before == [PATH, "", VARIABLES, "", ""]


def test_a_script_with_its_own_interpreter_runs_as_the_user_and_is_gone_afterwards(containers, tools):
    script = "#!/usr/bin/perl -w\nopen(F, '>', 'made'); print F \"$0 $<\\n\";\n"
    made = setup(
        Run(line=2, source="", state=State(user="app", workdir="/home/app"), argv=("sh",), script=script)
    )
    with containers.started(tools) as container:
        assert run_setup(container, made).returncode == 0
        path, user = read(container, "/home/app/made").split()
        assert user == "1234"
        assert container.execute(["test", "-e", path]).returncode == 1


def test_files_go_where_copy_puts_them(containers, tools):
    made = setup(
        sh(1, "mkdir -p /there/deep /other && ln -s /other /alias && ln -s /gone /old && touch /plain"),
        file(2, "/there", b"in a folder"),
        file(3, "/alias/f", b"through a link"),
        file(4, "/old", b"in place of a link"),
        link(5, "/plain", "there"),
        folder(6, "/there/deep", 0o700, owner="33"),
        file(7, "/made/by/copy", b"", owner="app"),
    )
    with containers.started(tools) as container:
        assert run_setup(container, made).returncode == 0
        for path, text in {
            "/there/there": "in a folder",
            "/other/f": "through a link",
            "/old": "in place of a link",
        }.items():
            assert read(container, path) == text
        shown = container.execute(
            ["stat", "-c", "%n %F %a %u:%g", "/old", "/plain", "/there/deep", "/made", "/made/by/copy"]
        )
        assert shown.stdout.decode().splitlines() == [
            "/old regular file 644 0:0",
            "/plain symbolic link 777 0:0",
            "/there/deep directory 700 33:33",
            "/made directory 755 1234:1234",
            "/made/by/copy regular empty file 644 1234:1234",
        ]  # fmt: skip


def test_a_cache_mount_starts_empty_and_what_is_written_there_does_not_stay(containers, tools):
    text = "ls -A /var/cache/own /none/cache >/seen; touch /var/cache/own/new /none/cache/new"
    step = replace(sh(2, text), caches=("/var/cache/own", "/none/cache"))
    made = setup(
        sh(1, "mkdir /var/cache/own && touch /var/cache/own/old"), step, sh(3, "ls /var/cache/own >/after")
    )
    with containers.started(tools) as container:
        done = run_setup(container, made)
        assert done.returncode == 0, done.stderr
        assert read(container, "/seen").split() == ["/none/cache:", "/var/cache/own:"]
        assert read(container, "/after").split() == ["old"]
        assert container.execute(["ls", "-A", "/none", "/var/lib/envfold"]).stdout.split()[-1:] == [b"done"]
        assert container.execute(["test", "-e", "/none/cache"]).returncode == 1


def test_an_archive_is_unpacked_with_modes_owners_and_links(containers, tools):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:xz") as archive:
        for name, kind, mode, other in (
            ("d", tarfile.DIRTYPE, 0o750, {}),
            ("d/f", tarfile.REGTYPE, 0o640, {"uid": 12, "gid": 34}),
            ("d/hard", tarfile.LNKTYPE, 0o640, {"linkname": "d/f", "uid": 12, "gid": 34}),
            ("../l", tarfile.SYMTYPE, 0o777, {"linkname": "d/f"}),
        ):
            info = tarfile.TarInfo(name)
            info.type, info.mode, info.size = kind, mode, 2 if kind == tarfile.REGTYPE else 0
            for key, value in other.items():
                setattr(info, key, value)
            archive.addfile(info, io.BytesIO(b"hi"))
    entry = Entry(path="a.tar.xz", source=buffer.getvalue(), size=len(buffer.getvalue()))
    made = setup(Put(line=1, source="ADD", state=ROOT, path="/x", entry=entry, unpack=True))
    with containers.started(tools) as container:
        assert run_setup(container, made).returncode == 0
        shown = container.execute(
            ["sh", "-c", "cd /x; stat -c '%n %F %a %u:%g' d d/f d/hard l; cat l d/hard"]
        )
        assert shown.stdout.decode().splitlines() == [
            "d directory 750 0:0", "d/f regular file 640 12:34", "d/hard regular file 640 12:34",
            "l symbolic link 777 0:0", "hihi",
        ]  # fmt: skip


def test_without_setpriv_su_switches_the_user_and_what_su_cannot_do_is_said(containers, tools):
    app = {"user": "app", "workdir": "/home/app", "environment": (("A", "it's\n-x"), ("PATH", PATH))}
    made = setup(sh(1, 'id -un >me; printf %s "$A" >a; echo "$HOME" >home', **app), environment=(("B", "1"),))
    with containers.started(tools, env={"B": "1"}) as container:
        container.execute(["sh", "-c", "mv /usr/bin/setpriv /setpriv"])
        done = run_setup(container, made)
        assert done.returncode == 0, done.stderr
        assert [read(container, f"/home/app/{name}") for name in ("me", "a", "home")] == [
            "app\n",
            "it's\n-x",
            "/home/app\n",
        ]
    with containers.started(tools) as container:
        container.execute(["mv", "/usr/bin/setpriv", "/setpriv"])
        done = run_setup(container, setup(sh(4, "id", user="4321")))
        assert done.returncode == 1
        assert b"Dockerfile:4: cannot become the user 4321" in done.stderr
