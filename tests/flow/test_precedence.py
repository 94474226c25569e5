"""Which rule wins, case by case. A case is a tree, the rules in every place, and what is selected."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from fakes.trees import CountingWalker, Problems, Rules, paths_of, plant, plant_names, plant_repository
from marid.workspace.rules.ignore_files import UserGitFiles


@dataclass(frozen=True)
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
    Case("nothing says anything: everything is in", "a.py b/c.txt .hidden", ".hidden a.py b/c.txt"),
    Case("a default excludes", "a.py a.log build/x", "a.py"),
    Case("defaults can be turned off", "a.py a.log build/x", "a.log a.py build/x", defaults=False),
    Case(".gitignore beats a default", "a.log b.log", "a.log", rules={".gitignore": "!a.log"}),
    Case(".ignore beats a default", "a.log b.log", "a.log", rules={".ignore": "!a.log"}),
    Case("info/exclude beats a default", "a.log b.log", "a.log", git=(".",), rules={".git/info/exclude": "!a.log"}),
    Case("core.excludesFile beats a default", "a.log b.log", "a.log", git=(".",), excludes="!a.log"),
    Case("--config beats a default", "a.log b.log", "a.log", config="a.log"),
    Case("--config beats .gitignore", "a b", "a", rules={".gitignore": "*"}, config="a"),
    Case("--config beats .ignore", "a b", "a", rules={".ignore": "a"}, config="a\n!b"),
    Case("--config beats info/exclude", "a b", "a b", git=(".",), rules={".git/info/exclude": "a"}, config="a"),
    Case("--config beats core.excludesFile", "a b", "a b", git=(".",), excludes="a", config="a"),
    Case(".contextfiles beats --config", "a b", "a", rules={".contextfiles": "a"}, config="!*"),
    Case(".contextfiles beats --config the other way too", "a b", "b", rules={".contextfiles": "!a"}, config="a\nb"),
    Case(".contextfiles beats .gitignore", "a b", "a", rules={".contextfiles": "a", ".gitignore": "a\nb"}),
    Case(".contextfiles beats a default", "a.log b.log", "a.log", rules={".contextfiles": "a.log"}),
    Case("a nearer .contextfiles beats one above it", "d/a d/b e/a", "d/a",
         rules={".contextfiles": "!a", "d/.contextfiles": "a\n!b"}),
    Case("the nearest of three .contextfiles that says something decides", "d/e/a d/e/b d/e/c", "d/e/a",
         rules={".contextfiles": "!a\n!b\n!c", "d/.contextfiles": "a\nb", "d/e/.contextfiles": "!b"}),
    Case("--rule beats .contextfiles", "a b", "a", inline=("a",), rules={".contextfiles": "!a\n!b"}),
    Case("--rule beats a nearer .contextfiles", "d/a", "", inline=("!a",), rules={"d/.contextfiles": "a"}),
    Case("--rule beats --config", "a b", "a", inline=("a", "!b"), config="!a\nb"),
    Case("--rule beats .gitignore", "a b", "a", inline=("a",), rules={".gitignore": "*"}),
    Case("--rule beats a default", "a.log b.log", "a.log", inline=("a.log",)),
    Case("all six at once, one file for each", "1 2 3 4 5 6 7.log 8.log", "1 3 4 5 7.log", inline=("1", "!2"),
         rules={".contextfiles": "!1\n2\n3", ".gitignore": "[2-6]\n!5\n!7.log"}, config="![1-3]\n4"),
    Case("ignore files can be turned off", "a b", "a b", rules={".gitignore": "a"}, ignores=False),
    Case("turning ignore files off turns the repository's own off too", "a b c", "a b c", git=(".",),
         rules={".git/info/exclude": "a"}, excludes="b", ignores=False),
]  # fmt: skip

ONE_SOURCE = [
    Case("an exclusion beats an inclusion", "a.py", "", inline=("*.py", "!a*")),
    Case("an exclusion beats an inclusion that stands after it", "a.py", "", inline=("!a*", "*.py")),
    Case("so in .contextfiles", "a.py", "", rules={".contextfiles": "!a*\n*.py"}),
    Case("so in --config", "a.py", "", config="!a*\n*.py"),
    Case("a file named without wildcards beats one with", "a.log b.log", "a.log", inline=("!*.log", "a.log")),
    Case("the document's own example",
         "x.log important_service.log tests/t.py src/tests/u.py docs/a.md docs/deep/b.md main.py",
         "docs/a.md docs/deep/b.md important_service.log main.py",
         rules={".contextfiles": "# logs\n!*.log\n\nimportant_service.log\n!tests/\ndocs/*.md\n"}),
    Case("so in --config too", "a.log b.log", "a.log", config="!*.log\na.log"),
    Case("a file named by its path counts as named", "d/a.log e/a.log", "d/a.log", inline=("!*.log", "d/a.log")),
    Case("a plain inclusion does not beat a plain exclusion", "a.log b", "b", inline=("a.log", "!a.log")),
    Case("not even when a wildcard excludes as well", "a.log b", "b", inline=("a.log", "!a.log", "!*.log")),
    Case("a wildcard inclusion does not beat a wildcard exclusion", "ab b", "", inline=("a*", "!*b")),
    Case("an escaped wildcard is none", "a* ab", "a*", inline=("!a*", r"a\*")),
    Case("a folder is not named back in", "keep/a b", "b", inline=("!k*", "keep")),
    Case("nor by a rule for folders", "keep/a b", "b", inline=("!k*/", "keep/")),
    Case("a file named below a folder excluded by a wildcard is in", "k1/a k1/b", "k1/a", inline=("!k*/", "k1/a")),
    Case("at any depth there", "k1/x/a k1/x/b k2/a", "k1/x/a k2/a", inline=("!k*/", "a")),
    Case("but not below one that is excluded by name", "k1/a k1/b c", "c", inline=("!k1/", "k1/a")),
    Case(
        "nor below a plain exclusion inside of one with a wildcard", "k1/x/a k1/a", "k1/a", inline=("!k*/", "!x/", "a")
    ),
    Case("a wildcard does not reach below a folder that its own source excludes", "d/a.py b.py", "b.py",
         inline=("*.py", "!d/")),
    Case("in an ignore file the last match wins", "a b", "a", rules={".gitignore": "*\n!a\n"}),
    Case("and an exclusion after it excludes again", "a b", "", rules={".gitignore": "*\n!a\na\n"}),
]  # fmt: skip

FOLDERS = [
    Case("a folder's inclusion is a word on all below", "d/x.log d/build/y", "d/build/y d/x.log", inline=("d/",)),
    Case("a folder's exclusion is a word on all below", "d/x/y/z e", "e", inline=("!d/",)),
    Case("a name without a slash means files and folders", "d/x e/d f", "f", inline=("!d",)),
    Case("a trailing slash means folders only", "d/x e/d f", "e/d f", inline=("!d/",)),
    Case("a weaker inclusion does not reach into an excluded folder", "d/a.py", "", inline=("!d/",), config="*.py"),
    Case("a stronger one does", "d/a.py d/b", "d/a.py", inline=("*.py",), config="!d/"),
    Case("into a folder that a default excludes", "build/a.py build/b", "build/a.py", inline=("build/a.py",)),
    Case("and deep", "build/x/y/a.py build/z/b", "build/x/y/a.py", inline=("build/x/**/a.py",)),
    Case("a folder included inside an excluded one comes whole",
         "node_modules/lib/src/a.js node_modules/lib/src/build/b.js node_modules/lib/c.js",
         "node_modules/lib/src/a.js node_modules/lib/src/build/b.js", inline=("node_modules/lib/src/",)),
    Case("a nearer rule excludes inside a folder that one above includes", "d/a d/b", "d/a",
         rules={".contextfiles": "d/", "d/.contextfiles": "!b"}),
    Case("a rule file inside an excluded folder is not read", "d/a e/a", "e/a",
         rules={".contextfiles": "!d/", "d/.contextfiles": "a"}),
    Case("not even when a stronger rule opens the folder", "d/a d/b", "d/b", inline=("b",), config="!d/",
         rules={"d/.contextfiles": "a"}),
    Case("nor one inside a folder that a default excludes", "build/a b", "b", rules={"build/.contextfiles": "a"}),
    Case("one inside a folder that was included again is read", "build/keep/a build/keep/b build/c", "build/keep/a",
         config="build/keep/", rules={"build/keep/.contextfiles": "!b"}),
    Case("a pattern with a slash is tied to its place", "a/b c/a/b", "c/a/b", inline=("!a/b",)),
    Case("a leading slash ties a name to its place", "a c/a", "c/a", inline=("!/a",)),
    Case("patterns of a rule file are relative to its folder", "a/b d/a/b", "a/b", rules={"d/.contextfiles": "!a/b"}),
    Case("two stars cross folders", "a/x/y/b a/b b", "b", inline=("!a/**/b",)),
    Case("one star does not", "a/x/b a/b", "", inline=("!a/*",)),
    Case("and stays inside one folder", "a/x/b.c a/b.c", "a/x/b.c", inline=("!a/*.c",)),
    Case("letters may be composed or not", "cafe\u0301 caf\u00e9s", "caf\u00e9s", inline=("!caf\u00e9",)),
    Case("rule files themselves are left out", "a", "a", rules={".contextfiles": "# nothing"}, whole=True),
    Case("unless a rule includes them", "a", ".contextfiles a", rules={".contextfiles": ".contextfiles"}, whole=True),
]  # fmt: skip

GIT = [
    Case("no repository is needed", "a b", "b", rules={".gitignore": "a"}),
    Case("a nearer .gitignore beats one above", "d/a a", "d/a", rules={".gitignore": "a", "d/.gitignore": "!a"}),
    Case(".ignore beats .gitignore beside it", "a b", "a", rules={".gitignore": "a\n!b", ".ignore": "!a\nb"}),
    Case("a nearer .gitignore beats .ignore above it", "d/a a", "d/a", rules={".ignore": "a", "d/.gitignore": "!a"}),
    Case(
        ".gitignore beats info/exclude", "a b", "a b", git=(".",), rules={".git/info/exclude": "a", ".gitignore": "!a"}
    ),
    Case(
        "info/exclude beats core.excludesFile", "a b", "a", git=(".",), rules={".git/info/exclude": "!a"}, excludes="*"
    ),
    Case("an ignored folder is not reopened", "out/a b", "b", rules={".gitignore": "out/\n!out/a"}),
    Case("nor by a rule file inside it", "out/a b", "b", rules={".gitignore": "out/", "out/.gitignore": "!a"}),
    Case(
        "what is ignored by its content is reopened", "x/keep/a x/b", "x/keep/a", rules={".gitignore": "x/*\n!x/keep/"}
    ),
    Case("a folder of the defaults is taken back", "build/a build/b.log", "build/a", rules={".gitignore": "!build/"}),
    Case("a nested repository starts anew", "a sub/a sub/b sub/deep/a", "sub/a sub/b sub/deep/a", git=(".", "sub"),
         rules={".gitignore": "a", ".git/info/exclude": "b"}),
    Case("with its own rules", "a b sub/a sub/b sub/c", "b sub/a", git=(".", "sub"),
         rules={".gitignore": "a", "sub/.gitignore": "b", "sub/.git/info/exclude": "c"}),
    Case("but the user's own ignore file counts in both", "a sub/a sub/b", "sub/b", git=(".", "sub"), excludes="a"),
    Case(
        "a nested repository that is ignored stays so", "a sub/b", "a", git=(".", "sub"), rules={".gitignore": "sub/"}
    ),
    Case("context rules and defaults cross into a nested repository", "sub/a sub/b sub/c.log", "sub/b", git=("sub",),
         rules={".contextfiles": "!a"}),
    Case(
        "a worktree's .git is a file that says where the rules are",
        "wt/a wt/b",
        "b",
        git=("repo",),
        rules={
            "repo/.git/info/exclude": "a",
            "wt/.git": "gitdir: ../repo/.git/worktrees/wt\n",
            "repo/.git/worktrees/wt/commondir": "../..\n",
        },
        top="wt",
    ),
    Case("a worktree below the target too", "wt/a wt/b", "wt/b", git=("repo",),
         rules={"repo/.git/info/exclude": "a", "wt/.git": "gitdir: ../repo/.git\n", ".gitignore": "b"}),
    Case("a lone .git folder makes no repository", "sub/a sub/.git/", "", rules={".gitignore": "a"}),
]  # fmt: skip

TARGETS = [
    Case(
        "the .gitignore files above a sub-folder count up to the top of its repository",
        "repo/src/lib/a repo/src/lib/b repo/src/lib/c repo/src/lib/d",
        "d",
        git=("repo",),
        rules={
            ".gitignore": "d",
            "repo/.gitignore": "a",
            "repo/src/.gitignore": "/lib/b",
            "repo/.git/info/exclude": "src/*/c",
        },
        top="repo/src/lib",
    ),
    Case("the .contextfiles above it too", "repo/src/a repo/src/b", "b", git=("repo",),
         rules={"repo/.contextfiles": "!src/a"}, top="repo/src"),
    Case("without a repository nothing above counts", "d/a", "a", rules={".gitignore": "a"}, top="d"),
    Case("a target that a default excludes is taken", "build/a build/b.log", "a", top="build"),
    Case("a target that a rule above excludes is taken", "d/a d/b", "a b", git=(".",),
         rules={".gitignore": "d/\n", ".contextfiles": "!d/"}, top="d"),
    Case(
        "one of several targets that --rule excludes is taken", "d/a d/b e/c", "d/a", inline=("!d/", "!b"), target="d"
    ),
    Case("an inclusion of a target counts", "d/a.log d/build/b", "d/a.log d/build/b", inline=("d/",), target="d"),
    Case("an inclusion above of a target counts", "d/a.log e.log", "a.log", git=(".",), rules={".contextfiles": "d/"},
         top="d"),
    Case("rules of the command line are relative to the target", "d/x/a d/a", "x/a", inline=("!/a",), top="d"),
    Case("and so are those of --config", "d/x/a d/a", "x/a", config="!/a", top="d"),
    Case("rule files on the way from the common folder to a target count", "d/e/a d/e/b", "",
         rules={".contextfiles": "!a", "d/.gitignore": "e/b"}, target="d/e"),
]  # fmt: skip

PRUNING = [
    Case("an excluded folder is not listed", "node_modules/a/b/c src/d", "src/d", listed=2),
    Case("by an ignore file neither", "x/a/b c", "c", rules={".gitignore": "x/"}, listed=1),
    Case("nor for a weaker inclusion", "x/a/b.py c", "c", inline=("!x/",), config="*.py", listed=1),
    Case("nor for an inclusion of an ignore file", "build/a/b c", "c", rules={".gitignore": "!b"}, listed=1),
    Case("only the way to an included file is listed", "build/x/a build/y/b build/c", "build/x/a",
         inline=("build/x/a",), listed=3),
    Case("an inclusion by name opens every folder", "build/x/a build/y/b", "build/x/a", inline=("a",), listed=4),
    Case("an inclusion that can match nothing opens none", "build/x/a c", "c", inline=("[a", "x\\"), listed=1),
    Case("an exclusion opens none", "build/x/a c", "c", inline=("!a",), listed=1),
    Case("a folder rule opens what it may match", "build/x/a build/y/b", "build/x/a build/y/b", inline=("build/*/",),
         listed=4),
    Case("a rule behind two stars opens all below", "build/x/y/a build/b", "build/x/y/a", inline=("build/**/a",),
         listed=4),
    Case("a nearer rule file reaches only its own folder", "d/build/a build/a", "d/build/a",
         rules={"d/.contextfiles": "a"}, listed=3),
    Case("below a wildcard only named files open folders", "k1/x/a k1/y/b", "k1/x/a", inline=("!k*/", "k1/x/a", "*.py"),
         listed=3),
    Case("below a name nothing does", "k1/x/a b", "b", inline=("!k1/", "k1/x/a"), listed=1),
]  # fmt: skip

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
