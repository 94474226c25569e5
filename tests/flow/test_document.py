"""Every sentence of the design document on behaviour, as far as our decisions keep it, is a test that quotes it."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from fakes.files import as_nobody
from fakes.trees import plant, plant_names, scratch
from marid.launch.start import run

RULE = "=" * 80


@dataclass(frozen=True, kw_only=True)
class Result:
    """What one call of the program came to."""

    code: int
    out: str
    err: str

    @property
    def paths(self) -> list[str]:
        assert self.code == 0, self.err
        return self.out.splitlines()


Jinni = Callable[..., Result]


@pytest.fixture
def jinni(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Jinni:
    """The program under the name that the document gives it, in process."""
    home = tmp_path_factory.mktemp("home")
    for name in ("HOME", "XDG_CONFIG_HOME", "MARID_HOME"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.delenv("JINNI_MAX_SIZE_MB", raising=False)
    monkeypatch.chdir(home)

    def call(*args: object) -> Result:
        capfdbinary.readouterr()
        code = run(["jinni", *map(str, args)])
        out, err = capfdbinary.readouterr()
        return Result(code=code, out=out.decode(), err=err.decode())

    return call


def listed(jinni: Jinni, top: Path | str, *args: str) -> list[str]:
    return jinni(top, "--list-only", *args).paths


# 2. Core logic: file discovery


def test_a_tree_is_traversed_from_a_single_root(jinni: Jinni, tmp_path: Path) -> None:
    """'recursive traversal starting from a single root path'"""
    plant_names(tmp_path, "top/a.py", "top/b/c/d.py", "beside.py")
    assert listed(jinni, tmp_path / "top") == ["a.py", "b/c/d.py"]


def test_symbolic_links_are_skipped(jinni: Jinni, tmp_path: Path) -> None:
    """'Symbolic links encountered during traversal will be skipped by default to prevent loops'"""
    plant(tmp_path, {"outside/secret.txt": "canary", "top/a.txt": "a"})
    (tmp_path / "top" / "file").symlink_to("../outside/secret.txt")
    (tmp_path / "top" / "folder").symlink_to("../outside")
    (tmp_path / "top" / "loop").symlink_to(".")
    assert listed(jinni, tmp_path / "top") == ["a.txt"]
    result = jinni(tmp_path / "top")
    assert "canary" not in result.out
    assert "3 symbolic links" in result.err


# 2. Core logic: filtering


@pytest.mark.parametrize(
    "name", [".git/config", ".svn/entries", "build/a.o", "dist/a.js", "__pycache__/a.pyc", "a.log", "logs/x"]
)
def test_default_exclusions_apply(name: str, jinni: Jinni, tmp_path: Path) -> None:
    """'Applies default exclusion rules (VCS, build artifacts, logs, etc.)'"""
    plant_names(tmp_path, name, f"deep/{name}", "kept.txt")
    assert listed(jinni, tmp_path) == ["kept.txt"]


def test_only_a_list_is_written_when_only_a_list_is_asked_for(jinni: Jinni, tmp_path: Path) -> None:
    """'Handles `list_only` flag'; 'Prepends metadata headers ... unless `list_only` is true'"""
    plant(tmp_path, {"a.txt": "content of a", "d/b.txt": "content of b"})
    assert jinni(tmp_path, "--list-only").out == "a.txt\nd/b.txt\n"


# 2. Core logic: file reading


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "cp1252"])
def test_several_encodings_are_attempted(encoding: str, jinni: Jinni, tmp_path: Path) -> None:
    """'Attempts multiple encodings (UTF-8, Latin-1, CP1252)'"""
    plant(tmp_path, {"a.txt": "déjà vu\n".encode(encoding)})
    assert "\n\ndéjà vu\n" in jinni(tmp_path).out


def test_a_file_that_only_latin_1_can_read_is_read(jinni: Jinni, tmp_path: Path) -> None:
    """'Attempts multiple encodings': CP1252 has no 0x81, Latin-1 reads anything"""
    plant(tmp_path, {"a.txt": b"caf\xe9\x81\n"})
    assert "café\x81\n" in jinni(tmp_path).out


def test_a_file_without_permission_is_told_and_survived(jinni: Jinni) -> None:
    """'Handles file read errors gracefully (permissions ...)'"""
    with scratch() as top:
        plant(top, {"a.txt": "readable", "closed.txt": "canary"})
        os.chmod(f"{top}/closed.txt", 0)
        with as_nobody():
            result = jinni(top)
    assert result.code == 0
    assert "readable" in result.out
    assert "canary" not in result.out
    assert "closed.txt" in result.err
    assert "permission denied" in result.err


def test_a_root_that_does_not_exist_is_an_error_in_words(jinni: Jinni, tmp_path: Path) -> None:
    """'Handles file read errors gracefully (... non-existent files)'; 'user-friendly error messages to stderr'"""
    result = jinni(tmp_path / "nothing")
    assert (result.code, result.out) == (4, "")
    assert "nothing" in result.err
    assert "Traceback" not in result.err


# 2. Core logic: output formatting


def test_contents_are_concatenated_under_headers_and_between_separators(jinni: Jinni, tmp_path: Path) -> None:
    """'Concatenates file content'; 'Prepends metadata headers (path, size, modified time)'; 'consistent separators'"""
    plant(tmp_path, {"a.txt": "one\ntwo\n", "d/b.txt": "three"})
    for name in ("a.txt", "d/b.txt"):
        os.utime(tmp_path / name, (0, 86399))
    assert jinni(tmp_path).out == (
        f"File: a.txt\nSize: 8 bytes\nLast Modified: 1970-01-01 23:59:59\n{RULE}\n\none\ntwo\n"
        f"\n{RULE}\n"
        f"File: d/b.txt\nSize: 5 bytes\nLast Modified: 1970-01-01 23:59:59\n{RULE}\n\nthree\n"
    )


def test_a_folder_without_files_gives_nothing(jinni: Jinni, tmp_path: Path) -> None:
    """'Concatenates file content' of no file at all"""
    result = jinni(tmp_path)
    assert (result.code, result.out) == (0, "")


# 2. Core logic: large contexts


def test_the_limit_is_100_megabytes_and_over_it_nothing_is_written(jinni: Jinni, tmp_path: Path) -> None:
    """'total content size limit (default: 100MB)'; 'abort processing and ... print an explanatory error message'"""
    plant(tmp_path, {"half.txt": b"x" * 9000, "other.txt": b"y" * 9000})
    for name in ("half.txt", "other.txt"):
        os.truncate(tmp_path / name, 52 << 20)
    result = jinni(tmp_path)
    assert (result.code, result.out) == (5, "")
    assert "Total content size exceeds limit of 100MB" in result.err
    assert "half.txt" in result.err
    os.truncate(tmp_path / "other.txt", 47 << 20)
    assert jinni(tmp_path, "--output", tmp_path.parent / "out.txt").code == 0


def test_the_limit_is_set_by_an_environment_variable(
    jinni: Jinni, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """'configurable via `JINNI_MAX_SIZE_MB` env var'"""
    plant(tmp_path, {"a.txt": b"x" * (1 << 20), "b.txt": b"y"})
    assert jinni(tmp_path).code == 0
    monkeypatch.setenv("JINNI_MAX_SIZE_MB", "1")
    result = jinni(tmp_path)
    assert (result.code, result.out) == (5, "")
    assert "Total content size exceeds limit of 1MB" in result.err
    assert listed(jinni, tmp_path) == ["a.txt", "b.txt"]


def test_sizes_are_accumulated_over_all_files(jinni: Jinni, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """'Accumulate file sizes during traversal. If the limit is exceeded, abort'"""
    plant(tmp_path, {f"d{i}/{i}.txt": b"x" * 300_000 for i in range(4)})
    monkeypatch.setenv("JINNI_MAX_SIZE_MB", "1")
    assert jinni(tmp_path).code == 5
    assert jinni(tmp_path, "--rule", "!d0/").code == 0


def test_a_limit_that_is_no_number_is_an_error(jinni: Jinni, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """'configurable via `JINNI_MAX_SIZE_MB` env var': a mistake is told"""
    monkeypatch.setenv("JINNI_MAX_SIZE_MB", "lots")
    result = jinni(tmp_path)
    assert (result.code, result.out) == (2, "")
    assert "JINNI_MAX_SIZE_MB" in result.err


# 3. Rule files: format, syntax, hierarchy

EXAMPLE = (
    "# Ignore all log files\n!*.log\n\n# But specifically include important_service.log\nimportant_service.log\n\n"
    "# Exclude all test directories\n!tests/\n\n# Include all markdown files in docs\ndocs/*.md\n"
)
OWN = ".contextfiles"
# What the document says, the files of a tree, rule files (GLOBAL is that of --config), rules of the command line, and
# what is listed.
SELECTIONS: list[tuple[str, str, dict[str, str], list[str], str]] = [
    ("One rule per line", "a b c", {OWN: "!a\n!b"}, [], "c"),
    ("Encoding: UTF-8", "a é", {OWN: "!é\n"}, [], "a"),
    ("Lines starting with # are ignored", "a b c", {OWN: "# !a\n#!b\n!c\n"}, [], "a b"),
    ("Empty lines or lines containing only whitespace are ignored", "a b", {OWN: "\n   \n\t\n!a\n"}, [], "b"),
    ("Lines starting with ! denote an exclusion rule", "a b c", {OWN: "!a"}, [], "b c"),
    ("All other lines denote an inclusion rule", "a b c", {OWN: "a\nb\n"}, [], "a b c"),
    ("The pattern itself is a glob pattern: []", "a b c é", {OWN: "![ab]"}, [], "c é"),
    ("The pattern itself is a glob pattern: ?", "a b c é", {OWN: "!?"}, [], ""),
    ("The pattern itself is a glob pattern: *", "a b c é", {OWN: "!*"}, [], ""),
    ("e.g., `*.log`", "a.log docs/a.md docs/deep/b.md", {}, ["!*.log"], "docs/a.md docs/deep/b.md"),
    ("e.g., `__pycache__/`", "a deep/__pycache__/x.py", {}, ["*", "!__pycache__/"], "a"),
    ("e.g., `docs/*.md`", "a docs/a.md docs/deep/b.md", {}, ["!docs/*.md"], "a docs/deep/b.md"),
    ("Simple text file named `.contextfiles`", "a", {"contextfiles": "!a", ".contextfile": "!a"}, [],
     ".contextfile a contextfiles"),
    ("apply rules from `.contextfiles` and potential inline rules", "a b c", {OWN: "!a"}, ["!b"], "c"),
    ("If no inline rules, start empty", "a b c", {OWN: "!a"}, [], "b c"),
    ("included, potentially overriding broader exclusion rules or defaults", "a.log b.log build/x",
     {OWN: "a.log\nbuild/"}, [], "a.log build/x"),
    ("matched against the relative path from the directory containing the `.contextfiles`",
     "a/b.txt sub/a/b.txt sub/sub/a/b.txt", {f"sub/{OWN}": "!a/b.txt\n!sub/a/c.txt"}, [], "a/b.txt sub/sub/a/b.txt"),
    ("Patterns ending with `/` apply only to directories", "a/tests/t.py b/tests", {OWN: "!tests/"}, [], "b/tests"),
    ("the example does what its comments say",
     "x.log important_service.log s/important_service.log tests/a.py s/tests/b.py docs/guide.md docs/guide.log main.py",
     {OWN: EXAMPLE}, [], "important_service.log main.py docs/guide.md s/important_service.log"),
    ("Start with rules provided inline ... highest precedence", "a b x.log", {OWN: "!a\nb\n", "GLOBAL": "!a\nb"},
     ["a", "!b", "*.log"], "a x.log"),
    ("precedence over defaults", "a.log b.log", {"GLOBAL": "*.log"}, [], "a.log b.log"),
    ("but below inline rules", "a.log b.log", {"GLOBAL": "*.log"}, ["!a.log"], "b.log"),
    ("No default inclusion rules", "Makefile a.py b.unknown c", {}, [], "Makefile a.py b.unknown c"),
    ("apply locally and recursively *unless overridden by rules in deeper subdirectories*", "a d/a d/e/a d/e/f/a g/a",
     {f"d/{OWN}": "!a", f"d/e/{OWN}": "a"}, [], "a d/e/a d/e/f/a g/a"),
    ("precedence over default, global, and parent `.contextfiles` rules, but lower precedence than inline rules",
     "d/a.log d/b d/c d/e", {"GLOBAL": "!b", OWN: "!c", f"d/{OWN}": "a.log\nb\nc\ne"}, ["!e"], "d/a.log d/b d/c"),
    ("a. inline b. D's `.contextfiles` c. parent d. global e. default f. include",
     "d/a.log d/b.log d/c.log d/d.log d/e.log d/f",
     {"GLOBAL": "a.log\nb.log\nc.log\n!f\nd.log", OWN: "a.log\nb.log\n!c.log\nf", f"d/{OWN}": "a.log\n!b.log"},
     ["!a.log"], "d/d.log d/f"),
    ("Within the same rule source, `!` exclusions override inclusions", "a.py b.txt", {OWN: "*.py\n!a*"}, [], "b.txt"),
    ("and so do those that come first", "a.py b.txt", {OWN: "!a*\n*.py\n"}, [], "b.txt"),
    ("and inline ones", "a.py b.txt", {OWN: "!a*\n*.py\n"}, ["b*", "!*.txt", "a.py"], "a.py"),
    ("Specify a global config file (using `.contextfiles` format)", "a b x.log y.log",
     {"GLOBAL": "# comment\n\n!a\n!*.log\nx.log\n"}, [], "b x.log"),
    ("`.contextfiles` found during traversal override both global and default rules", "a b.log",
     {"GLOBAL": "!a", OWN: "a\n*.log"}, [], "a b.log"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("names", "rules", "inline", "expected"), [row[1:] for row in SELECTIONS], ids=[row[0] for row in SELECTIONS]
)
def test_the_rules_select_as_the_document_says(
    names: str, rules: dict[str, str], inline: list[str], expected: str, jinni: Jinni, tmp_path: Path
) -> None:
    plant_names(tmp_path / "top", *names.split())
    plant(tmp_path / "top", {name: text for name, text in rules.items() if name != "GLOBAL"})
    plant(tmp_path, {"rules": rules.get("GLOBAL", "")})
    config = ["--config", str(tmp_path / "rules")] if "GLOBAL" in rules else []
    assert listed(jinni, tmp_path / "top", *config, *(f"--rule={rule}" for rule in inline)) == expected.split()


# 5. The command line


def test_the_path_is_required(jinni: Jinni) -> None:
    """'`<path>` (required): Target directory path'"""
    result = jinni()
    assert (result.code, result.out) == (2, "")
    assert "path" in result.err


def test_the_output_goes_to_a_file_instead_of_stdout(jinni: Jinni, tmp_path: Path) -> None:
    """'`--output <file>` (optional): Write output to a file instead of stdout'"""
    plant(tmp_path, {"top/a.txt": "content\n"})
    printed = jinni(tmp_path / "top").out
    assert "content" in printed
    result = jinni(tmp_path / "top", "--output", tmp_path / "out.txt")
    assert (result.code, result.out) == (0, "")
    assert (tmp_path / "out.txt").read_text() == printed


def test_the_list_may_go_to_a_file_too(jinni: Jinni, tmp_path: Path) -> None:
    """'Prints concatenated content or file list to stdout or specified output file'"""
    plant_names(tmp_path, "top/a.txt", "top/d/b.txt")
    assert jinni(tmp_path / "top", "--list-only", "--output", tmp_path / "list").code == 0
    assert (tmp_path / "list").read_text() == "a.txt\nd/b.txt\n"


@pytest.mark.parametrize("extra", [(), ("--list-only",), ("--no-defaults",), ("--rule", "*")])
def test_an_output_inside_the_tree_does_not_hold_itself(extra: tuple[str, ...], jinni: Jinni, tmp_path: Path) -> None:
    """'`--output <file>` (optional)': wherever it lies"""
    plant(tmp_path, {"a.txt": "content\n", "only/": ""})
    expected = jinni(tmp_path, *extra).out
    for place in (tmp_path / "out.txt", tmp_path / "only" / "out.txt"):
        for _ in range(2):
            assert jinni(tmp_path, *extra, "--output", place).code == 0
            assert place.read_text() == expected
        place.unlink()


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (("{top}/a.txt/below",), 4, "a.txt"),
        (("{top}", "--config", "{top}/nothing"), 4, "nothing"),
        (("{top}", "--output", "{top}/no/such/folder/out"), 4, "folder"),
        (("{top}", "--output", "{top}"), 2, "folder"),
        (("{top}", "--no-such-option"), 2, "--no-such-option"),
    ],
)
def test_errors_are_told_on_stderr_in_words(
    args: tuple[str, ...], code: int, words: str, jinni: Jinni, tmp_path: Path
) -> None:
    """'Prints user-friendly error messages to stderr'"""
    plant(tmp_path, {"a.txt": ""})
    result = jinni(*(arg.format(top=tmp_path) for arg in args))
    assert (result.code, result.out) == (code, "")
    assert words in result.err
    assert "Traceback" not in result.err


def test_the_program_itself_prints_results_to_stdout_and_errors_to_stderr(tmp_path: Path) -> None:
    """'Prints concatenated content or file list to stdout'; 'Prints user-friendly error messages to stderr'"""
    plant_names(tmp_path, "top/a.txt")

    def call(*args: str) -> tuple[int, str, str]:
        done = subprocess.run(
            [sys.executable, "-m", "marid", "context", *args],
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    assert call("top", "--list-only") == (0, "a.txt\n", "")
    code, out, err = call("nothing")
    assert (code, out) == (4, "")
    assert "nothing" in err
