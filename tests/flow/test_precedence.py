"""Which rule wins, case by case. A case is a tree, the rules in every place, and what is selected."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from fakes.trees import CountingWalker, Problems, Rules, paths_of, plant, plant_names, plant_repository
from marid.workspace.rules.ignore_files import UserGitFiles


@dataclass(frozen=True, kw_only=True)
class Case:
    """`files` are empty, `rules` are rule files by their place, `git` makes a folder the top of a repository.

    `expected` leaves rule files and `.git` aside unless `whole` is set. `listed`, where given, is how many folders
    are opened. `top` is the folder that the user names, `target` a folder below it.
    """

    name: str
    files: str
    expected: str
    inline: tuple[str, ...] = ()
    config: str = ""
    rules: Mapping[str, str] = field(default_factory=dict[str, str])
    git: tuple[str, ...] = ()
    excludes: str = ""
    ignores: bool = True
    defaults: bool = True
    whole: bool = False
    listed: int | None = None
    top: str = ""
    target: str = ""


ORDER = [
    Case(name="nothing says anything: everything is in", files="a.py b/c.txt .hidden", expected=".hidden a.py b/c.txt"),
    Case(name="a default excludes", files="a.py a.log build/x", expected="a.py"),
    Case(name="defaults can be turned off", files="a.py a.log build/x", defaults=False, expected="a.log a.py build/x"),
    Case(name=".gitignore beats a default", files="a.log b.log", rules={".gitignore": "!a.log"}, expected="a.log"),
    Case(name=".ignore beats a default", files="a.log b.log", rules={".ignore": "!a.log"}, expected="a.log"),
    Case(
        name="info/exclude beats a default",
        files="a.log b.log",
        git=(".",),
        rules={".git/info/exclude": "!a.log"},
        expected="a.log",
    ),
    Case(
        name="core.excludesFile beats a default", files="a.log b.log", git=(".",), excludes="!a.log", expected="a.log"
    ),
    Case(name="--config beats a default", files="a.log b.log", config="a.log", expected="a.log"),
    Case(name="--config beats .gitignore", files="a b", rules={".gitignore": "*"}, config="a", expected="a"),
    Case(name="--config beats .ignore", files="a b", rules={".ignore": "a"}, config="a\n!b", expected="a"),
    Case(
        name="--config beats info/exclude",
        files="a b",
        git=(".",),
        rules={".git/info/exclude": "a"},
        config="a",
        expected="a b",
    ),
    Case(name="--config beats core.excludesFile", files="a b", git=(".",), excludes="a", config="a", expected="a b"),
    Case(name=".contextfiles beats --config", files="a b", rules={".contextfiles": "a"}, config="!*", expected="a"),
    Case(
        name=".contextfiles beats --config the other way too",
        files="a b",
        rules={".contextfiles": "!a"},
        config="a\nb",
        expected="b",
    ),
    Case(
        name=".contextfiles beats .gitignore",
        files="a b",
        rules={".contextfiles": "a", ".gitignore": "a\nb"},
        expected="a",
    ),
    Case(name=".contextfiles beats a default", files="a.log b.log", rules={".contextfiles": "a.log"}, expected="a.log"),
    Case(
        name="a nearer .contextfiles beats one above it",
        files="d/a d/b e/a",
        rules={".contextfiles": "!a", "d/.contextfiles": "a\n!b"},
        expected="d/a",
    ),
    Case(
        name="the nearest of three .contextfiles that says something decides",
        files="d/e/a d/e/b d/e/c",
        rules={".contextfiles": "!a\n!b\n!c", "d/.contextfiles": "a\nb", "d/e/.contextfiles": "!b"},
        expected="d/e/a",
    ),
    Case(
        name="--rule beats .contextfiles", files="a b", inline=("a",), rules={".contextfiles": "!a\n!b"}, expected="a"
    ),
    Case(
        name="--rule beats a nearer .contextfiles",
        files="d/a",
        inline=("!a",),
        rules={"d/.contextfiles": "a"},
        expected="",
    ),
    Case(name="--rule beats --config", files="a b", inline=("a", "!b"), config="!a\nb", expected="a"),
    Case(name="--rule beats .gitignore", files="a b", inline=("a",), rules={".gitignore": "*"}, expected="a"),
    Case(name="--rule beats a default", files="a.log b.log", inline=("a.log",), expected="a.log"),
    Case(
        name="all six at once, one file for each",
        files="1 2 3 4 5 6 7.log 8.log",
        inline=("1", "!2"),
        rules={".contextfiles": "!1\n2\n3", ".gitignore": "[2-6]\n!5\n!7.log"},
        config="![1-3]\n4",
        expected="1 3 4 5 7.log",
    ),
    Case(name="ignore files can be turned off", files="a b", rules={".gitignore": "a"}, ignores=False, expected="a b"),
    Case(
        name="turning ignore files off turns the repository's own off too",
        files="a b c",
        git=(".",),
        rules={".git/info/exclude": "a"},
        excludes="b",
        ignores=False,
        expected="a b c",
    ),
]

ONE_SOURCE = [
    Case(name="an exclusion beats an inclusion", files="a.py", inline=("*.py", "!a*"), expected=""),
    Case(
        name="an exclusion beats an inclusion that stands after it", files="a.py", inline=("!a*", "*.py"), expected=""
    ),
    Case(name="so in .contextfiles", files="a.py", rules={".contextfiles": "!a*\n*.py"}, expected=""),
    Case(name="so in --config", files="a.py", config="!a*\n*.py", expected=""),
    Case(
        name="a file named without wildcards beats one with",
        files="a.log b.log",
        inline=("!*.log", "a.log"),
        expected="a.log",
    ),
    Case(
        name="the document's own example",
        files="x.log important_service.log tests/t.py src/tests/u.py docs/a.md docs/deep/b.md main.py",
        rules={".contextfiles": "# logs\n!*.log\n\nimportant_service.log\n!tests/\ndocs/*.md\n"},
        expected="docs/a.md docs/deep/b.md important_service.log main.py",
    ),
    Case(name="so in --config too", files="a.log b.log", config="!*.log\na.log", expected="a.log"),
    Case(
        name="a file named by its path counts as named",
        files="d/a.log e/a.log",
        inline=("!*.log", "d/a.log"),
        expected="d/a.log",
    ),
    Case(
        name="a plain inclusion does not beat a plain exclusion",
        files="a.log b",
        inline=("a.log", "!a.log"),
        expected="b",
    ),
    Case(
        name="not even when a wildcard excludes as well",
        files="a.log b",
        inline=("a.log", "!a.log", "!*.log"),
        expected="b",
    ),
    Case(
        name="a wildcard inclusion does not beat a wildcard exclusion", files="ab b", inline=("a*", "!*b"), expected=""
    ),
    Case(name="an escaped wildcard is none", files="a* ab", inline=("!a*", r"a\*"), expected="a*"),
    Case(name="a folder is not named back in", files="keep/a b", inline=("!k*", "keep"), expected="b"),
    Case(name="nor by a rule for folders", files="keep/a b", inline=("!k*/", "keep/"), expected="b"),
    Case(
        name="a file named below a folder excluded by a wildcard is in",
        files="k1/a k1/b",
        inline=("!k*/", "k1/a"),
        expected="k1/a",
    ),
    Case(name="at any depth there", files="k1/x/a k1/x/b k2/a", inline=("!k*/", "a"), expected="k1/x/a k2/a"),
    Case(name="but not below one that is excluded by name", files="k1/a k1/b c", inline=("!k1/", "k1/a"), expected="c"),
    Case(
        name="nor below a plain exclusion inside of one with a wildcard",
        files="k1/x/a k1/a",
        inline=("!k*/", "!x/", "a"),
        expected="k1/a",
    ),
    Case(
        name="a wildcard does not reach below a folder that its own source excludes",
        files="d/a.py b.py",
        inline=("*.py", "!d/"),
        expected="b.py",
    ),
    Case(name="in an ignore file the last match wins", files="a b", rules={".gitignore": "*\n!a\n"}, expected="a"),
    Case(name="and an exclusion after it excludes again", files="a b", rules={".gitignore": "*\n!a\na\n"}, expected=""),
]

FOLDERS = [
    Case(
        name="a folder's inclusion is a word on all below",
        files="d/x.log d/build/y",
        inline=("d/",),
        expected="d/build/y d/x.log",
    ),
    Case(name="a folder's exclusion is a word on all below", files="d/x/y/z e", inline=("!d/",), expected="e"),
    Case(name="a name without a slash means files and folders", files="d/x e/d f", inline=("!d",), expected="f"),
    Case(name="a trailing slash means folders only", files="d/x e/d f", inline=("!d/",), expected="e/d f"),
    Case(
        name="a weaker inclusion does not reach into an excluded folder",
        files="d/a.py",
        inline=("!d/",),
        config="*.py",
        expected="",
    ),
    Case(name="a stronger one does", files="d/a.py d/b", inline=("*.py",), config="!d/", expected="d/a.py"),
    Case(
        name="into a folder that a default excludes",
        files="build/a.py build/b",
        inline=("build/a.py",),
        expected="build/a.py",
    ),
    Case(name="and deep", files="build/x/y/a.py build/z/b", inline=("build/x/**/a.py",), expected="build/x/y/a.py"),
    Case(
        name="a folder included inside an excluded one comes whole",
        files="node_modules/lib/src/a.js node_modules/lib/src/build/b.js node_modules/lib/c.js",
        inline=("node_modules/lib/src/",),
        expected="node_modules/lib/src/a.js node_modules/lib/src/build/b.js",
    ),
    Case(
        name="a nearer rule excludes inside a folder that one above includes",
        files="d/a d/b",
        rules={".contextfiles": "d/", "d/.contextfiles": "!b"},
        expected="d/a",
    ),
    Case(
        name="a rule file inside an excluded folder is not read",
        files="d/a e/a",
        rules={".contextfiles": "!d/", "d/.contextfiles": "a"},
        expected="e/a",
    ),
    Case(
        name="not even when a stronger rule opens the folder",
        files="d/a d/b",
        inline=("b",),
        config="!d/",
        rules={"d/.contextfiles": "a"},
        expected="d/b",
    ),
    Case(
        name="nor one inside a folder that a default excludes",
        files="build/a b",
        rules={"build/.contextfiles": "a"},
        expected="b",
    ),
    Case(
        name="one inside a folder that was included again is read",
        files="build/keep/a build/keep/b build/c",
        config="build/keep/",
        rules={"build/keep/.contextfiles": "!b"},
        expected="build/keep/a",
    ),
    Case(name="a pattern with a slash is tied to its place", files="a/b c/a/b", inline=("!a/b",), expected="c/a/b"),
    Case(name="a leading slash ties a name to its place", files="a c/a", inline=("!/a",), expected="c/a"),
    Case(
        name="patterns of a rule file are relative to its folder",
        files="a/b d/a/b",
        rules={"d/.contextfiles": "!a/b"},
        expected="a/b",
    ),
    Case(name="two stars cross folders", files="a/x/y/b a/b b", inline=("!a/**/b",), expected="b"),
    Case(name="one star does not", files="a/x/b a/b", inline=("!a/*",), expected=""),
    Case(name="and stays inside one folder", files="a/x/b.c a/b.c", inline=("!a/*.c",), expected="a/x/b.c"),
    Case(
        name="letters may be composed or not",
        files="cafe\u0301 caf\u00e9s",
        inline=("!caf\u00e9",),
        expected="caf\u00e9s",
    ),
    Case(
        name="rule files themselves are left out",
        files="a",
        rules={".contextfiles": "# nothing"},
        whole=True,
        expected="a",
    ),
    Case(
        name="unless a rule includes them",
        files="a",
        rules={".contextfiles": ".contextfiles"},
        whole=True,
        expected=".contextfiles a",
    ),
]

GIT = [
    Case(name="no repository is needed", files="a b", rules={".gitignore": "a"}, expected="b"),
    Case(
        name="a nearer .gitignore beats one above",
        files="d/a a",
        rules={".gitignore": "a", "d/.gitignore": "!a"},
        expected="d/a",
    ),
    Case(
        name=".ignore beats .gitignore beside it",
        files="a b",
        rules={".gitignore": "a\n!b", ".ignore": "!a\nb"},
        expected="a",
    ),
    Case(
        name="a nearer .gitignore beats .ignore above it",
        files="d/a a",
        rules={".ignore": "a", "d/.gitignore": "!a"},
        expected="d/a",
    ),
    Case(
        name=".gitignore beats info/exclude",
        files="a b",
        git=(".",),
        rules={".git/info/exclude": "a", ".gitignore": "!a"},
        expected="a b",
    ),
    Case(
        name="info/exclude beats core.excludesFile",
        files="a b",
        git=(".",),
        rules={".git/info/exclude": "!a"},
        excludes="*",
        expected="a",
    ),
    Case(name="an ignored folder is not reopened", files="out/a b", rules={".gitignore": "out/\n!out/a"}, expected="b"),
    Case(
        name="nor by a rule file inside it",
        files="out/a b",
        rules={".gitignore": "out/", "out/.gitignore": "!a"},
        expected="b",
    ),
    Case(
        name="what is ignored by its content is reopened",
        files="x/keep/a x/b",
        rules={".gitignore": "x/*\n!x/keep/"},
        expected="x/keep/a",
    ),
    Case(
        name="a folder of the defaults is taken back",
        files="build/a build/b.log",
        rules={".gitignore": "!build/"},
        expected="build/a",
    ),
    Case(
        name="a nested repository starts anew",
        files="a sub/a sub/b sub/deep/a",
        git=(".", "sub"),
        rules={".gitignore": "a", ".git/info/exclude": "b"},
        expected="sub/a sub/b sub/deep/a",
    ),
    Case(
        name="with its own rules",
        files="a b sub/a sub/b sub/c",
        git=(".", "sub"),
        rules={".gitignore": "a", "sub/.gitignore": "b", "sub/.git/info/exclude": "c"},
        expected="b sub/a",
    ),
    Case(
        name="but the user's own ignore file counts in both",
        files="a sub/a sub/b",
        git=(".", "sub"),
        excludes="a",
        expected="sub/b",
    ),
    Case(
        name="a nested repository that is ignored stays so",
        files="a sub/b",
        git=(".", "sub"),
        rules={".gitignore": "sub/"},
        expected="a",
    ),
    Case(
        name="context rules and defaults cross into a nested repository",
        files="sub/a sub/b sub/c.log",
        git=("sub",),
        rules={".contextfiles": "!a"},
        expected="sub/b",
    ),
    Case(
        name="a worktree's .git is a file that says where the rules are",
        files="wt/a wt/b",
        git=("repo",),
        rules={
            "repo/.git/info/exclude": "a",
            "wt/.git": "gitdir: ../repo/.git/worktrees/wt\n",
            "repo/.git/worktrees/wt/commondir": "../..\n",
        },
        top="wt",
        expected="b",
    ),
    Case(
        name="a worktree below the target too",
        files="wt/a wt/b",
        git=("repo",),
        rules={"repo/.git/info/exclude": "a", "wt/.git": "gitdir: ../repo/.git\n", ".gitignore": "b"},
        expected="wt/b",
    ),
    Case(
        name="a lone .git folder makes no repository", files="sub/a sub/.git/", rules={".gitignore": "a"}, expected=""
    ),
]

TARGETS = [
    Case(
        name="the .gitignore files above a sub-folder count up to the top of its repository",
        files="repo/src/lib/a repo/src/lib/b repo/src/lib/c repo/src/lib/d",
        git=("repo",),
        rules={
            ".gitignore": "d",
            "repo/.gitignore": "a",
            "repo/src/.gitignore": "/lib/b",
            "repo/.git/info/exclude": "src/*/c",
        },
        top="repo/src/lib",
        expected="d",
    ),
    Case(
        name="the .contextfiles above it too",
        files="repo/src/a repo/src/b",
        git=("repo",),
        rules={"repo/.contextfiles": "!src/a"},
        top="repo/src",
        expected="b",
    ),
    Case(
        name="without a repository nothing above counts", files="d/a", rules={".gitignore": "a"}, top="d", expected="a"
    ),
    Case(name="a target that a default excludes is taken", files="build/a build/b.log", top="build", expected="a"),
    Case(
        name="a target that a rule above excludes is taken",
        files="d/a d/b",
        git=(".",),
        rules={".gitignore": "d/\n", ".contextfiles": "!d/"},
        top="d",
        expected="a b",
    ),
    Case(
        name="one of several targets that --rule excludes is taken",
        files="d/a d/b e/c",
        inline=("!d/", "!b"),
        target="d",
        expected="d/a",
    ),
    Case(
        name="an inclusion of a target counts",
        files="d/a.log d/build/b",
        inline=("d/",),
        target="d",
        expected="d/a.log d/build/b",
    ),
    Case(
        name="an inclusion above of a target counts",
        files="d/a.log e.log",
        git=(".",),
        rules={".contextfiles": "d/"},
        top="d",
        expected="a.log",
    ),
    Case(
        name="rules of the command line are relative to the target",
        files="d/x/a d/a",
        inline=("!/a",),
        top="d",
        expected="x/a",
    ),
    Case(name="and so are those of --config", files="d/x/a d/a", config="!/a", top="d", expected="x/a"),
    Case(
        name="rule files on the way from the common folder to a target count",
        files="d/e/a d/e/b",
        rules={".contextfiles": "!a", "d/.gitignore": "e/b"},
        target="d/e",
        expected="",
    ),
]

PRUNING = [
    Case(name="an excluded folder is not listed", files="node_modules/a/b/c src/d", expected="src/d", listed=2),
    Case(name="by an ignore file neither", files="x/a/b c", rules={".gitignore": "x/"}, expected="c", listed=1),
    Case(name="nor for a weaker inclusion", files="x/a/b.py c", inline=("!x/",), config="*.py", expected="c", listed=1),
    Case(
        name="nor for an inclusion of an ignore file",
        files="build/a/b c",
        rules={".gitignore": "!b"},
        expected="c",
        listed=1,
    ),
    Case(
        name="only the way to an included file is listed",
        files="build/x/a build/y/b build/c",
        inline=("build/x/a",),
        expected="build/x/a",
        listed=3,
    ),
    Case(
        name="an inclusion by name opens every folder",
        files="build/x/a build/y/b",
        inline=("a",),
        expected="build/x/a",
        listed=4,
    ),
    Case(
        name="an inclusion that can match nothing opens none",
        files="build/x/a c",
        inline=("[a", "x\\"),
        expected="c",
        listed=1,
    ),
    Case(name="an exclusion opens none", files="build/x/a c", inline=("!a",), expected="c", listed=1),
    Case(
        name="a folder rule opens what it may match",
        files="build/x/a build/y/b",
        inline=("build/*/",),
        expected="build/x/a build/y/b",
        listed=4,
    ),
    Case(
        name="a rule behind two stars opens all below",
        files="build/x/y/a build/b",
        inline=("build/**/a",),
        expected="build/x/y/a",
        listed=4,
    ),
    Case(
        name="a nearer rule file reaches only its own folder",
        files="d/build/a build/a",
        rules={"d/.contextfiles": "a"},
        expected="d/build/a",
        listed=3,
    ),
    Case(
        name="below a wildcard only named files open folders",
        files="k1/x/a k1/y/b",
        inline=("!k*/", "k1/x/a", "*.py"),
        expected="k1/x/a",
        listed=3,
    ),
    Case(name="below a name nothing does", files="k1/x/a b", inline=("!k1/", "k1/x/a"), expected="b", listed=1),
]

CASES = [*ORDER, *ONE_SOURCE, *FOLDERS, *GIT, *TARGETS, *PRUNING]
_RULE_FILES = {".contextfiles", ".gitignore", ".ignore"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_rules_select(case: Case, tmp_path: Path) -> None:
    place = tmp_path / "place"
    plant_names(place, *case.files.split(" "))
    for folder in case.git:
        plant_repository(place / folder)
    plant(place, case.rules)
    plant(tmp_path, {"excludes": case.excludes})
    rules = Rules(
        inline=case.inline,
        config=case.config,
        ignores=case.ignores,
        defaults=case.defaults,
        user=UserGitFiles(excludes=str(tmp_path / "excludes")),
    )
    problems = Problems()
    walker = CountingWalker(os.path.realpath(place / case.top), rules.ruling(), problems)
    found = paths_of(walker.walk(case.target))
    if not case.whole:
        found = [path for path in found if path.split("/")[-1] not in _RULE_FILES and ".git" not in path.split("/")]
    assert sorted(found) == sorted(case.expected.split())
    assert problems == []
    assert case.listed in (None, walker.listed)


def test_there_are_many_cases_and_no_two_of_one_name() -> None:
    assert len(CASES) == len({case.name for case in CASES}) >= 70
