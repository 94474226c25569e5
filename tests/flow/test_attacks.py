"""Every path attack against every tool that takes a path: a new tool is attacked the moment it is in the inventory."""

import json
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from fakes.hostile_project import CANARY, PATH_PARAMETERS, HostileProject, PathParameter
from fakes.trees import scratch
from marid.toolkit.outcome import ToolFailure, ToolOutput

every_aim = pytest.mark.parametrize("aim", PATH_PARAMETERS, ids=str)
every_target = pytest.mark.parametrize("aim", [aim for aim in PATH_PARAMETERS if aim.writes], ids=str)
every_folder = pytest.mark.parametrize(
    "aim", [aim for aim in PATH_PARAMETERS if aim.kind.__name__ in ("FolderRef", "PathRef")], ids=str
)

OUTSIDE = (
    "../out/secret.{ext}",  # A01
    "a/../../out/secret.{ext}",  # A02
    "../out",
    "..",
    "../root_evil/secret.{ext}",
    "{root}/../out/secret.{ext}",
    "{root}_evil/secret.{ext}",
    "{top}/out/secret.{ext}",
    "{top}/out",
    "{top}",
    "/etc/passwd",
    "/",
    "//etc//passwd",
    "/dev/zero",  # A37
    "/dev/stdin",
    "/proc/self/environ",
    "/proc/self/root{top}/out/secret.{ext}",
    "/proc/self/cwd",
    "/proc/thread-self/root/etc",
    "/dev/fd/0",
    "/windows/win.ini",  # A40
)
NO_PATHS = ("", " ", "\n", "ok.{ext}\0.png", "x" * 5000, "y" * 256, "z/" * 2500, "\ud800")  # A10, A13, A14
LINKS = (
    "link_file.{ext}",  # A16
    "link_abs.{ext}",
    "link_folder",  # A17
    "link_folder/secret.{ext}",
    "link_folder/sub/secret.{ext}",
    "sub/link_deep",  # A20
    "sub/link_deep/secret.{ext}",
    "self/link_folder/secret.{ext}",
    "self/self/sub/link_deep/secret.{ext}",
    "loop",
    "loop/ok.{ext}",
    "link_file.{ext}/../../out/secret.{ext}",
)
WITHHELD = (
    "history.toml",  # A25
    "a_history.toml",
    "./self/history.toml",
    "sub/HISTORY.TOML",  # A26
    "link_old.{ext}",  # A22
    "hard.{ext}",  # A24
    f"{CANARY}-home",  # A28
    f"{CANARY}-home/config.{{ext}}",
    f"{{root}}/{CANARY}-home/config.{{ext}}",
    "link_home",
    "link_home/config.{ext}",
    "link_home.{ext}",
)
SPECIAL = ("pipe.{ext}", "socket.{ext}", "pipe.py", "socket.py")  # A36, A37
UNEXPANDED = ("~/.ssh/id_rsa", "~root/x", "~", "$HOME/.aws/credentials", "${{HOME}}/x", "%USERPROFILE%/x")  # A29, A30
LITERAL = (
    "....//....//etc/passwd",  # A05
    "%2e%2e%2fetc%2fpasswd",  # A06
    "..%252fout",
    "．．／out/secret.{ext}",  # A41
    "C:foo",  # A40
    "..\\out\\secret.{ext}",
    "ok\u200d.{ext}",
)
UNWRITABLE = (
    ".git/config",  # A32
    ".GIT/config",
    ".git./config",
    "git~1/config",
    "sub/.git/hooks/pre-commit",
    ".git",
    "bare/config",
    "bare/hooks/post-checkout",
    "link_in.{ext}",  # A18
    "link_folder/new.{ext}",  # A21
    "link_folder/new/deep.{ext}",
    "sub/link_deep/new.{ext}",
    "self/new.{ext}",
    f"{CANARY}-home/new.{{ext}}",
    "new_history.toml",
    "sub",
    "ok.{ext}/new.{ext}",
)
# What a tool may say to a path that it need not open.
SAYS_NOTHING = {"get_git_diff": "No differences."}


@pytest.fixture
def world() -> Generator[HostileProject]:
    with scratch() as top:
        made = HostileProject(Path(top))
        yield made
        assert made.unharmed()


def sane(aim: PathParameter) -> str:
    return "ok.{ext}" if aim.takes_files else "."


def refused(world: HostileProject, aim: PathParameter, *paths: str) -> None:
    for path in paths:
        outcome = world.try_path(aim, path)
        if outcome.ok and outcome.text == SAYS_NOTHING.get(aim.spec.name):
            continue
        assert isinstance(outcome, ToolFailure), (path, outcome)
        assert outcome.code in ("refused", "bad_input", "not_found"), (path, outcome)
        assert "Traceback" not in outcome.message


@every_aim
def test_a_sane_path_is_served_or_all_the_rest_would_prove_nothing(world: HostileProject, aim: PathParameter) -> None:
    outcome = world.try_path(aim, sane(aim))
    assert isinstance(outcome, ToolOutput), outcome


@every_aim
def test_other_spellings_of_a_sane_path_are_the_same_path(world: HostileProject, aim: PathParameter) -> None:
    """A04, A08."""
    roundabout = ("./{0}", "sub/../{0}", "{{root}}/{0}", "{{root}}/sub/../{0}", "{{root}}//./{0}")
    folders = () if aim.takes_files else ("{root}", "{root}/", "{root}//", "{root}/./")
    for path in [*(form.format(sane(aim)) for form in roundabout), *folders]:
        assert isinstance(world.try_path(aim, path), ToolOutput), path
        world.restore()


@every_aim
def test_nothing_leads_out(world: HostileProject, aim: PathParameter) -> None:
    refused(world, aim, *OUTSIDE, *LINKS)


@every_aim
def test_what_is_no_path_is_an_error(world: HostileProject, aim: PathParameter) -> None:
    refused(world, aim, *NO_PATHS, *UNEXPANDED)


@every_aim
def test_what_is_withheld_is_not_there(world: HostileProject, aim: PathParameter) -> None:
    refused(world, aim, *WITHHELD)


@every_aim
def test_what_is_no_file_is_refused_at_once(world: HostileProject, aim: PathParameter) -> None:
    begun = time.monotonic()
    refused(world, aim, *SPECIAL)
    assert time.monotonic() - begun < 10


@every_aim
def test_odd_names_are_taken_literally(world: HostileProject, aim: PathParameter) -> None:
    """They may be made inside; that nothing outside is told or touched is what `try_path` sees to."""
    for path in LITERAL:
        world.try_path(aim, path)


@every_target
def test_what_may_not_be_written_is_not(world: HostileProject, aim: PathParameter) -> None:
    refused(world, aim, *UNWRITABLE)


@every_folder
def test_nothing_that_is_withheld_shows_in_a_folder(world: HostileProject, aim: PathParameter) -> None:
    """A28, A42, A50, A52: the canary is in names as well; what is shown can be shown."""
    outcome = world.try_path(aim, ".")
    assert isinstance(outcome, ToolOutput)
    assert "\x1b" not in outcome.text
    assert "\u202e" not in outcome.text
    outcome.text.encode()
    json.dumps(dict(outcome.values), allow_nan=False).encode()


@pytest.mark.parametrize("aim", [aim for aim in PATH_PARAMETERS if aim.kind.__name__ != "PathRef"], ids=str)
def test_a_folder_is_no_file_and_a_file_no_folder(world: HostileProject, aim: PathParameter) -> None:
    """A38."""
    refused(world, aim, *((".", "sub") if aim.takes_files else ("ok.{ext}",)))


PATTERNS = ("../*", "**/../../*", "/etc/*", "{root}/../*", "../out/secret.py", "..", "sub/../../*")
BOMBS = ("{a,b}" * 20, "**/" * 40 + "*", "[!", "{" * 500, "*" * 2000 + "x", "{a,{b,{c,{d," * 50)
GLOBS = [
    (aim, name)
    for aim in PATH_PARAMETERS
    for name in ("pattern", "file_pattern")
    if name in aim.spec.body.__annotations__
]


@pytest.mark.parametrize(("aim", "name"), GLOBS, ids=str)
def test_a_pattern_finds_nothing_outside_and_ends(world: HostileProject, aim: PathParameter, name: str) -> None:
    """A48, A49."""
    for pattern in PATTERNS:
        raw = pattern.replace("{root}", str(world.root))
        outcome = world.try_path(aim, sane(aim), **{name: raw})
        if aim.spec.name in ("search_files", "glob_files"):
            assert isinstance(outcome, ToolFailure), (pattern, outcome)
    begun = time.monotonic()
    for pattern in BOMBS:
        world.try_path(aim, sane(aim), **{name: pattern})
    assert time.monotonic() - begun < 20


def test_a_root_that_is_exchanged_is_not_served(tmp_path: Path) -> None:
    """A45, for every tool."""
    world = HostileProject(tmp_path)
    world.root.rename(world.top / "root_moved")
    (world.top / "out").rename(world.root)
    for aim in PATH_PARAMETERS:
        for path in ("secret.{ext}", ".", "new.{ext}"):
            args = world.arguments(aim, path.format(ext=aim.extension)) if "anchor" not in aim.spec.name else None
            if args is not None:
                outcome = world.planned(aim.spec, args)
                assert isinstance(outcome, ToolFailure), (str(aim), path, outcome)
                assert CANARY not in outcome.text


def test_one_caller_sees_its_own_roots_whatever_others_do(tmp_path: Path) -> None:
    """A46."""
    first, second = HostileProject(tmp_path / "1"), HostileProject(tmp_path / "2")
    for aim in PATH_PARAMETERS:
        inside = first.arguments(aim, f"{first.root}/ok.{aim.extension}" if aim.takes_files else str(first.root))
        assert isinstance(second.planned(aim.spec, inside), ToolFailure), str(aim)
