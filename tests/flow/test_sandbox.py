"""Attacks on the sandbox, run for real: each by the number it has in the list of attacks."""

import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fakes.program import Program
from fakes.sandbox import SandboxedProject, bubblewrap_or_waiver, sandbox, tested_sandbox
from fakes.trees import plant
from marid.core.errors import Refused, Unavailable
from marid.ports.processes import ProcessCommand, ProcessResult

__all__ = ["sandbox", "tested_sandbox"]

CLOSED = ("Read-only file system", "Permission denied", "No such file or directory")


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def python(sandbox: SandboxedProject, script: str, **parameters: str) -> str:
    """What a Python script prints inside; it must succeed."""
    (sandbox.root / "probe.py").write_text(script)
    words = " ".join(parameters.values())
    return sandbox.output(f"{sys.base_prefix}/bin/python3 probe.py {words}").strip()


@pytest.mark.parametrize(
    "target", ["/etc/passwd", "/usr/x", "/x", "{home}/.bashrc", "{sibling}/x", "{parent}/x", "/root/x", "/var/x"]
)
def test_e01_nothing_outside_of_the_roots_can_be_written(sandbox: SandboxedProject, target: str) -> None:
    sibling = sandbox.place / "sibling"
    sibling.mkdir()
    path = target.format(home=sandbox.home, sibling=sibling, parent=sandbox.place)
    sandbox(f"echo canary > {path}")
    assert not os.path.exists(path) or "canary" not in Path(path).read_text()


@pytest.mark.parametrize("target", ["/etc/x", "/usr/x", "/x", "/root/x", "/home/x", "/run/x"])
def test_e01_a_write_elsewhere_fails_aloud(sandbox: SandboxedProject, target: str) -> None:
    assert any(words in sandbox.error_output(f"echo canary > {target}") for words in CLOSED)


@pytest.mark.parametrize(
    "attack",
    [
        "mount -o remount,rw,bind /",
        "mount -o remount,rw,bind /usr",
        "mount -t tmpfs none /mnt",
        "umount .git",
        "umount -l .git",
        "unshare -Urm true",
        "unshare -m true",
        "nsenter -t 1 -m true",
        "pivot_root . .",
        "chroot / true",
    ],
)
def test_e02_namespaces_and_mounts_stay_as_they_are(sandbox: SandboxedProject, attack: str) -> None:
    sandbox.error_output(attack)


def test_e02_there_are_no_capabilities_whoever_started_it(sandbox: SandboxedProject) -> None:
    status = sandbox.output("cat /proc/self/status")
    assert [line.split()[1] for line in status.splitlines() if line.startswith("Cap")] == ["0" * 16] * 5


CONNECT = """
import socket, sys
for family, address in [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"), (socket.AF_INET, "0.0.0.0")]:
    try:
        socket.socket(family).connect((address, int(sys.argv[1])))
    except OSError:
        continue
    print("connected", address)
try:
    socket.socket(socket.AF_UNIX).connect("\\0" + sys.argv[2])
    print("connected", "abstract")
except OSError:
    pass
print("tried")
"""


def test_e04_no_listener_of_the_machine_is_reached(sandbox: SandboxedProject, listener: socket.socket) -> None:
    name = f"marid-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(f"\0{name}")
        abstract.listen()
        assert python(sandbox, CONNECT, port=str(listener.getsockname()[1]), name=name) == "tried"


def test_e04_with_the_network_allowed_it_is_the_machines(sandbox: SandboxedProject, listener: socket.socket) -> None:
    (sandbox.root / "probe.py").write_text(CONNECT)
    ran = sandbox(f"{sys.base_prefix}/bin/python3 probe.py {listener.getsockname()[1]} none", network=True)
    assert "connected 127.0.0.1" in ran.out


def test_e05_sockets_of_the_machine_and_of_the_user_are_not_seen(sandbox: SandboxedProject) -> None:
    with socket.socket(socket.AF_UNIX) as agent:
        path = sandbox.home / "agent"
        agent.bind(str(path))
        agent.listen()
        sandbox.error_output(f"test -e {path}")
    assert sandbox.output("find /run /var -type s 2>/dev/null; true") == ""


@pytest.mark.parametrize(
    "attempt",
    [
        "import socket; socket.getaddrinfo('example.com', 80)",
        "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))",
        "import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)",
        "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
        "import socket; socket.create_connection(('192.0.2.1', 80), 2)",
    ],
)
def test_e06_nothing_gets_out(sandbox: SandboxedProject, attempt: str) -> None:
    (sandbox.root / "probe.py").write_text(attempt)
    assert "rror: " in sandbox.error_output(f"{sys.base_prefix}/bin/python3 probe.py")


@pytest.mark.parametrize(
    "attack",
    [
        "echo x >> .git/config",
        "echo x > .git/hooks/pre-commit",
        "rm -rf .git",
        "mv .git elsewhere",
        "rmdir .git",
        "mkdir new && mv -T new .git",
        "ln -sfn /tmp .git",
        "chmod 777 .git",
        "git config core.fsmonitor ./evil",
    ],
)
def test_e07_the_git_folder_stays_as_it_is(sandbox: SandboxedProject, attack: str) -> None:
    plant(sandbox.root, {".git/config": "[core]\n", ".git/HEAD": "ref: refs/heads/main\n", ".git/hooks/x": ""})
    (sandbox.root / ".git" / "objects").mkdir()
    (sandbox.root / ".git" / "refs").mkdir()
    before = {path: path.stat().st_mode for path in (sandbox.root / ".git").rglob("*")}
    sandbox.error_output(attack)
    assert {path: path.stat().st_mode for path in (sandbox.root / ".git").rglob("*")} == before
    assert (sandbox.root / ".git" / "config").read_text() == "[core]\n"


@pytest.mark.parametrize("name", [".git", ".mcp.json", ".vscode"])
@pytest.mark.parametrize(
    "attack",
    ["echo x > {0}", "mkdir {0} && echo x > {0}/config", "echo x > y && mv -T y {0}", "ln -s y {0}", "mkfifo {0}"],
)
def test_e08_what_is_created_under_a_protected_name_is_moved_away(
    sandbox: SandboxedProject, name: str, attack: str
) -> None:
    ran = sandbox(attack.format(name))
    assert not os.path.lexists(sandbox.root / name)
    (note,) = ran.notes
    assert f"moved to quarantine: {sandbox.root / name}, " in note
    item = sandbox.quarantine.items()[-1]
    assert item.path == str(sandbox.root / name)
    assert f"`marid quarantine restore {item.id}`" in note


def test_e08_it_is_moved_away_after_a_timeout_too(sandbox: SandboxedProject) -> None:
    ran = sandbox("mkdir .git; sleep 100", seconds=0.5)
    assert ran.timed_out
    assert len(ran.notes) == 1
    assert list(sandbox.root.iterdir()) == []


@pytest.mark.parametrize("name", [".env", ".netrc", ".npmrc", ".envrc", ".marid.toml"])
def test_e08_credentials_and_settings_stay_as_they_are(sandbox: SandboxedProject, name: str) -> None:
    (sandbox.root / name).write_text("mine")
    assert sandbox.output(f"cat {name}") == "mine"
    sandbox.error_output(f"echo x > {name}")
    sandbox.error_output(f"rm -f {name}")
    sandbox.error_output(f"echo x > y && mv y {name}")
    assert (sandbox.root / name).read_text() == "mine"


@pytest.mark.parametrize("name", [".git", ".mcp.json", ".vscode"])
def test_e09_a_protected_name_that_is_a_link_fails_closed(sandbox: SandboxedProject, name: str) -> None:
    (sandbox.root / name).symlink_to(sandbox.place / "elsewhere")
    with pytest.raises(Refused, match=f"'{name}' is a link"):
        sandbox("true")


def test_e08_commands_that_run_at_once_cannot_hand_a_name_to_each_other(sandbox: SandboxedProject) -> None:
    """The second finds the name that the first has created, and creates it again when the first has ended."""
    first = sandbox.command("mkdir .git; touch begun; while [ ! -e enough ]; do sleep 0.01; done")
    second = sandbox.command("touch joined; while [ -e .git ]; do sleep 0.01; done; mkdir .git")
    results: list[ProcessResult] = []

    def run(command: ProcessCommand) -> None:
        results.append(sandbox.runner.run(command))

    threads = [threading.Thread(target=run, args=(command,)) for command in (first, second)]
    threads[0].start()
    until((sandbox.root / "begun").exists)
    threads[1].start()
    until((sandbox.root / "joined").exists)
    (sandbox.root / "enough").touch()
    for thread in threads:
        thread.join()
    assert [(ran.status, len(ran.notes)) for ran in results] == [(0, 1), (0, 1)]
    assert sorted(path.name for path in sandbox.root.iterdir()) == ["begun", "enough", "joined"]


def test_e07_a_worktree_sees_its_repository_and_cannot_change_it(sandbox: SandboxedProject) -> None:
    main = sandbox.place / "main"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(main)]
    subprocess.run(["git", "init", "-q", str(main)], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    sandbox.root.rmdir()
    subprocess.run([*git, "worktree", "add", "-q", str(sandbox.root)], check=True, capture_output=True)
    assert "first" in sandbox.output("git log")
    sandbox.error_output("echo x > .git")
    sandbox.error_output("git commit --allow-empty -m second")
    sandbox.error_output(f"echo x >> {main}/.git/config")


def test_e07_a_file_that_claims_a_folder_for_its_repository_opens_nothing(sandbox: SandboxedProject) -> None:
    keys = sandbox.home / ".ssh"
    plant(keys, {"id_ed25519": "canary", "HEAD": "", "commondir": ".\n"})
    plant(sandbox.root, {".git": f"gitdir: {keys}\n"})
    sandbox.error_output(f"cat {keys}/id_ed25519")


def test_e07_submodules_stay_as_they_are(sandbox: SandboxedProject) -> None:
    plant(sandbox.root, {"libs/one/.git": "gitdir: ../../.git/modules/one\n", ".git/modules/one/config": ""})
    plant(sandbox.root, {".gitmodules": '[submodule "one"]\n\tpath = libs/one\n'})
    sandbox.error_output("echo x > libs/one/.git")
    sandbox.error_output("echo x > .git/modules/one/config")
    assert sandbox("echo x > libs/one/source").status == 0


def test_e07_a_repository_below_cannot_be_exchanged(sandbox: SandboxedProject) -> None:
    plant(sandbox.root, {"org/repo/.git/config": "", "org/repo/source": ""})
    for attack in ("mv org/repo org/old", "mv org old", "rm -r org/repo/.git", "echo x > org/repo/.git/config"):
        sandbox.error_output(attack)
    sandbox.output("mv org/repo/source org/repo/moved && mkdir org/new && mv org/repo/moved org/new/")


EXCHANGE = """
import ctypes, os, time
os.symlink("{target}", "x")
open(".env", "w").close()
open("begun", "w").close()
call, until = ctypes.CDLL(None).renameat2, time.monotonic() + 30
while not os.path.exists("enough") and time.monotonic() < until:
    call(-100, b".env", -100, b"x", 2)
"""


def test_e09_a_link_that_another_command_puts_in_the_place_of_a_name_opens_nothing(sandbox: SandboxedProject) -> None:
    plant(sandbox.home, {"key": "canary"})
    plant(sandbox.root, {"exchange.py": EXCHANGE.format(target=sandbox.home / "key")})
    script = f"{sys.base_prefix}/bin/python3 exchange.py"
    thread = threading.Thread(target=lambda: sandbox(script, seconds=40.0))
    thread.start()
    while thread.is_alive() and not (sandbox.root / "begun").exists():
        pass
    seen = ""
    for _ in range(40):
        try:
            seen += sandbox("cat .env x").out
        except Unavailable:  # the name was a link when it was to be mounted on
            continue
    (sandbox.root / "enough").touch()
    thread.join()
    assert "canary" not in seen


def test_a_home_that_is_a_root_keeps_its_secrets_and_its_start_files(
    tested_sandbox: SandboxedProject, tmp_path: Path
) -> None:
    sandbox = SandboxedProject(tmp_path)
    plant(sandbox.home, {".ssh/id_ed25519": "canary", ".netrc": "canary", ".bashrc": "", "project/x": ""})
    home = str(sandbox.home)

    def run(script: str) -> ProcessResult:
        return sandbox.runner.run(ProcessCommand(argv=("/bin/sh", "-c", script), cwd=home, roots=(home,)))

    assert "canary" not in run("cat .ssh/id_ed25519 .netrc").out
    assert run("ls -a .marid").out == ".\n..\n"
    assert run("echo x >> .bashrc").status == 2
    assert [len(run(f"echo x >> {name}").notes) for name in (".profile", ".gitconfig")] == [1, 1]
    assert run("echo x > project/x").status == 0
    assert sorted(path.name for path in sandbox.home.iterdir()) == [".bashrc", ".marid", ".netrc", ".ssh", "project"]


@pytest.mark.parametrize("root", ["/", "/usr", "/etc"])
def test_e10_the_whole_machine_is_no_project(sandbox: SandboxedProject, root: str) -> None:
    with pytest.raises(Refused, match="cannot be confined"):
        sandbox.runner.run(ProcessCommand(argv=("/bin/true",), cwd=root, roots=(root,)))


NOBODY = """
import os, sys, tempfile
sys.path.insert(0, {tests!r})
from pathlib import Path
import fakes.sandbox
if os.geteuid() == 0:
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
with tempfile.TemporaryDirectory() as place:
    os.environ["PATH"] = "/usr/bin:/bin"
    confined = fakes.sandbox.SandboxedProject(Path(place), prefix="/usr")
    assert confined.runner.state().confined, confined.runner.state()
    ran = confined("i=0; while [ $i -lt 300 ]; do sleep 3 & i=$((i+1)); done", seconds=3)
    assert "fork" in ran.err, ran
    assert list(confined.root.iterdir()) == []
"""


def test_e02_it_holds_for_ordinary_users_too(sandbox: SandboxedProject) -> None:
    tests = str(Path(__file__).parents[1])
    subprocess.run([sys.executable, "-c", NOBODY.format(tests=tests)], check=True, timeout=60)


def test_e10_the_folder_to_start_in_widens_nothing(sandbox: SandboxedProject) -> None:
    below = sandbox.root / "below"
    below.mkdir()
    assert sandbox("pwd; echo x > ../made", cwd=str(below)).out == f"{below}\n"
    assert (sandbox.root / "made").exists()
    outside = sandbox.place / "outside"
    outside.mkdir()
    with pytest.raises(Exception, match="chdir"):
        sandbox("true", cwd=str(outside))


def test_e13_other_processes_are_not_seen(sandbox: SandboxedProject) -> None:
    assert sandbox.error_output(f"kill -0 {os.getpid()}")
    assert f"{os.getpid()}" not in sandbox.output("ls /proc").split()


def test_e14_no_privileges_can_be_gained(sandbox: SandboxedProject) -> None:
    assert "NoNewPrivs:\t1" in sandbox.output("cat /proc/self/status")


KILLED = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from fakes.sandbox import SandboxedProject
confined = SandboxedProject(Path({place!r}))
confined.runner.run(confined.command("touch begun; mkdir .vscode; exec 9> line; sleep 100 & sleep 100", seconds=100))
"""


def started_and_killed(place: Path) -> SandboxedProject:
    """A sandbox whose program was killed while a command ran in it, and the command is gone."""
    tests = str(Path(__file__).parents[1])
    child = subprocess.Popen([sys.executable, "-c", KILLED.format(tests=tests, place=str(place))])
    line = place / "project" / "line"
    until((place / "project").exists)
    os.mkfifo(line)
    with open(line, "rb") as lifeline:  # opens when the command has opened its end
        assert (place / "project" / "begun").exists()
        child.kill()
        begun = time.monotonic()
        lifeline.read()
        assert time.monotonic() - begun < 20.0
    assert child.wait() == -signal.SIGKILL
    return SandboxedProject(place)


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        threading.Event().wait(0.005)


def test_e16_when_the_program_is_killed_so_is_what_it_ran(sandbox: SandboxedProject, tmp_path: Path) -> None:
    started_and_killed(tmp_path / "other")


def test_e17_nothing_is_left_in_the_project(sandbox: SandboxedProject) -> None:
    sandbox("true")
    sandbox("sleep 10", seconds=0.2)
    sandbox("exit 3")
    assert list(sandbox.root.iterdir()) == []
    assert not list((sandbox.home / ".marid").glob("probe-*"))


def test_e17_what_a_killed_command_created_is_moved_away_by_the_next(sandbox: SandboxedProject, tmp_path: Path) -> None:
    after = started_and_killed(tmp_path / "other")
    assert [path.name for path in after.root.iterdir() if path.name.startswith(".")] == [".vscode"]
    (note,) = after("true").notes
    assert f"{after.root}/.vscode" in note
    assert [path.name for path in after.root.iterdir() if path.name.startswith(".")] == []
    assert list((after.home / ".marid" / "sandbox").iterdir()) == []


CALLS = """
import ctypes, errno, platform
libc = ctypes.CDLL(None, use_errno=True)
x86 = platform.machine() == "x86_64"
for name, number in dict(
    keyctl=250 if x86 else 219, io_uring_setup=425, userfaultfd=323 if x86 else 282, bpf=321 if x86 else 280,
    perf_event_open=298 if x86 else 241, ptrace=101 if x86 else 117, add_key=248 if x86 else 217,
).items():
    assert libc.syscall(number, 0, 0, 0, 0, 0) == -1, name
    assert ctypes.get_errno() == errno.EPERM, (name, errno.errorcode[ctypes.get_errno()])
print("refused")
"""


@pytest.mark.skipif(os.uname().machine not in ("x86_64", "aarch64"), reason="no numbers of calls for this machine")
def test_e18_rare_calls_of_the_kernel_are_refused(sandbox: SandboxedProject) -> None:
    assert python(sandbox, CALLS) == "refused"


def test_s14_commands_get_the_environment_they_are_meant_to_have_and_no_other(tmp_path: Path) -> None:
    made = SandboxedProject(tmp_path, MY_VAR="mine")
    names = {line.partition("=")[0] for line in made.output("env").splitlines()} - {"SHLVL", "_"}  # some shells' own
    assert names == {"PATH", "HOME", "MY_VAR", "TMPDIR", "XDG_CACHE_HOME", "npm_config_cache", "PWD"}


@pytest.mark.parametrize("secret", ["/etc/shadow", "/etc/ssl/private", "/proc/1/environ", "/sys", "/dev/mem", "/boot"])
def test_d14_secrets_of_the_machine_are_not_seen(sandbox: SandboxedProject, secret: str) -> None:
    ran = sandbox(f"cat {secret} || ls {secret}/*")
    assert not ran.out.replace("\0", "").strip() or "PATH=" in ran.out  # the first process inside is our own
    assert "MARID" not in ran.out


def test_d12_nothing_is_kept_between_calls(sandbox: SandboxedProject) -> None:
    sandbox("export PAGER=evil; cd /tmp; alias ls=evil; touch /tmp/x")
    assert sandbox.output("echo ${PAGER-none}; pwd; ls /tmp | grep -v pytest; true") == f"none\n{sandbox.root}\n"


@pytest.mark.parametrize("endless", ["yes", "cat /dev/urandom", "while :; do printf x; sleep 0.05; done"])
def test_d32_endless_output_is_cut_and_the_time_limit_holds(sandbox: SandboxedProject, endless: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun = time.monotonic()
    ran = sandbox(endless, seconds=0.7)
    assert ran.timed_out
    assert time.monotonic() - begun < 20.0
    assert len(ran.out.encode("utf-8", "surrogatepass")) < 3_100_000
    assert (ran.omitted_bytes > 0) == (endless != "while :; do printf x; sleep 0.05; done")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


def test_d33_a_grandchild_that_holds_the_output_is_not_waited_for(sandbox: SandboxedProject) -> None:
    begun = time.monotonic()
    assert sandbox.output("sleep 100 & setsid sleep 100 & echo done") == "done\n"
    assert time.monotonic() - begun < 20.0


def test_d34_there_is_no_input_and_no_terminal(sandbox: SandboxedProject) -> None:
    assert sandbox("read line").status == 1
    sandbox.error_output("echo x > /dev/tty")
    assert sandbox.output("ps -o tty= -p $$ 2>/dev/null || echo '?'").strip() in ("?", "")


@pytest.mark.parametrize(
    "bomb", ["b() { b | b & }; b; sleep 1", "i=0; while [ $i -lt 300 ]; do sleep 3 & i=$((i+1)); done"]
)
def test_d38_a_crowd_of_processes_is_stopped_by_the_kernel(sandbox: SandboxedProject, bomb: str) -> None:
    ran = sandbox(bomb, seconds=3.0)
    assert "fork" in ran.err or "processes" in ran.err


def test_commands_find_git_and_python(sandbox: SandboxedProject) -> None:
    subprocess.run(["git", "init", "-q", str(sandbox.root)], check=True)
    assert sandbox.output("git status --porcelain") == ""
    assert sandbox.output("python3 -c 'print(6 * 7)'") == "42\n"


def test_the_python_of_a_virtual_environment_works(sandbox: SandboxedProject) -> None:
    (sandbox.root / ".venv" / "bin").mkdir(parents=True)
    (sandbox.root / ".venv" / "bin" / "python").symlink_to(os.path.realpath(sys.executable))
    assert sandbox.output(".venv/bin/python -c 'print(6 * 7)'") == "42\n"


@pytest.mark.parametrize("versioned", [True, False])
def test_a_program_that_a_command_has_left_on_the_path_is_not_run_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes], *, versioned: bool
) -> None:
    bubblewrap_or_waiver()
    program = Program(tmp_path, monkeypatch, capfdbinary)
    mark, planted = tmp_path / "mark", program.folder / ".venv/bin"
    if versioned:
        subprocess.run(["git", "init", "--quiet"], check=True)
    program.set(PATH=f"{planted}:{os.environ['PATH']}", DISPLAY=":0")
    plant_all = f"mkdir -p {planted}; for name in git xclip bd; do cp x {planted}/$name; done"
    script = f"echo '#!/bin/sh\n: > {mark}' > x; chmod +x x; {plant_all}"
    assert program("tool", "run_shell", "--allow", "exec", "--command", script).code == 0
    assert os.access(planted / "git", os.X_OK)
    program("tool", "get_git_diff", "--path", ".")
    program("context", "--diff", "--log", "3")
    program("context", "--copy")
    program("context", f"file://{program.folder}")
    assert not mark.exists()
