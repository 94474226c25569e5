"""What is never touched, what is never written, and what runs later if it is written: decided by names alone.

A file runs later if something obeys it that nobody calls by name: entering the folder, opening an editor, starting a
shell, Python or a debugger, running the tests, committing, pushing, installing. A `Makefile` or the scripts of a
`package.json` run when they are asked for, as any other source does, and are not among them.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

# Characters that some file systems leave out when they compare names.
_IGNORED_CHARACTERS = dict.fromkeys((*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF))
_GIT_SHORT_NAME = re.compile(r"git~[0-9]+")
# A shell would make another place of these; here they would be odd names, and never what the caller means.
_SHELL_EXPANSION = re.compile(r"~[^/]*/|~$|\$\{?[A-Z_][A-Z0-9_]*\}?(/|$)|%[A-Z_][A-Z0-9_]*%([/\\]|$)")

_HISTORY = "history.toml"

# Whole names, lower case, and who runs or obeys the file without being told to.
_AUTORUN_NAMES = {
    ".mcp.json": "names programs that other assistants start",
    ".envrc": "is run by direnv on entering the folder",
    ".env": "sets the environment of programs",
    ".gitmodules": "tells git where to fetch from",
    ".ripgreprc": "gives options to ripgrep",
    ".pre-commit-config.yaml": "names what runs at every commit",
    ".gitlab-ci.yml": "is run by CI",
    ".travis.yml": "is run by CI",
    ".drone.yml": "is run by CI",
    ".woodpecker.yml": "is run by CI",
    "azure-pipelines.yml": "is run by CI",
    "bitbucket-pipelines.yml": "is run by CI",
    "appveyor.yml": "is run by CI",
    "jenkinsfile": "is run by CI",
    "conftest.py": "is run by pytest before any test",
    "sitecustomize.py": "is run at every start of Python",
    "usercustomize.py": "is run at every start of Python",
    "setup.py": "is run when the project is installed",
    "setup.cfg": "can name code that runs when the project is installed",
    ".npmrc": "tells npm what to run and where to fetch from",
    ".yarnrc": "names a program that yarn runs",
    ".yarnrc.yml": "names a program that yarn runs",
    ".pnpmfile.cjs": "is run by pnpm when it installs",
    "lefthook.yml": "names what runs at every commit",
    "lefthook.yaml": "names what runs at every commit",
    ".bashrc": "is run by the shell",
    ".bash_profile": "is run by the shell",
    ".bash_login": "is run by the shell",
    ".bash_logout": "is run by the shell",
    ".profile": "is run by the shell",
    ".zshrc": "is run by the shell",
    ".zshenv": "is run by the shell",
    ".zprofile": "is run by the shell",
    ".zlogin": "is run by the shell",
    ".cshrc": "is run by the shell",
    ".tcshrc": "is run by the shell",
    ".inputrc": "is obeyed by the shell",
    ".gitconfig": "can name programs that git runs",
    ".vimrc": "is run by the editor",
    ".exrc": "is run by the editor",
    ".nvimrc": "is run by the editor",
    ".nvim.lua": "is run by the editor",
    ".dir-locals.el": "is obeyed by the editor",
    ".gdbinit": "is run by the debugger",
    ".lldbinit": "is run by the debugger",
    ".pdbrc": "is run by the debugger",
}
# Folders, lower case: whatever lies in them.
_AUTORUN_FOLDERS = {
    ".vscode": "holds tasks that the editor runs",
    ".idea": "holds tasks that the editor runs",
    ".devcontainer": "holds commands that the editor runs",
    ".circleci": "is run by CI",
    ".buildkite": "is run by CI",
    ".husky": "is run at every commit",
    ".githooks": "is run by git",
    ".claude": "tells other assistants what to run",
    ".cursor": "tells other assistants what to run",
    ".codex": "tells other assistants what to run",
    ".gemini": "tells other assistants what to run",
    ".marid": "tells this program what to do",
    ".direnv": "is run on entering the folder",
}
_AUTORUN_PAIRS = {
    (".github", "workflows"): "is run by CI",
    (".github", "actions"): "is run by CI",
    (".gitea", "workflows"): "is run by CI",
    (".forgejo", "workflows"): "is run by CI",
    (".cargo", "config.toml"): "names programs that cargo runs",
    (".cargo", "config"): "names programs that cargo runs",
}
_AUTORUN_SUFFIXES = {".pth": "is run at every start of Python", ".code-workspace": "holds tasks that the editor runs"}


def is_history_file(name: str) -> bool:
    """Whether a file of this name (its last part) holds conversations, in whatever case."""
    if len(name) < len(_HISTORY):
        return False
    folded = name.casefold()
    return folded == _HISTORY or folded.endswith(f"_{_HISTORY}")


def without_history_files(names: list[str]) -> list[str]:
    """`names` without those; one look at all of them together is enough for nearly every folder."""
    if _HISTORY not in "\n".join(names).casefold():
        return names
    return [name for name in names if not is_history_file(name)]


def is_git_dir_name(name: str) -> bool:
    """Whether some file system would take `name`, one part of a path, for `.git`."""
    if name == ".git":
        return True
    plain = name if name.isascii() else name.translate(_IGNORED_CHARACTERS)
    plain = plain.partition(":")[0].rstrip(". ").casefold()
    return plain == ".git" or _GIT_SHORT_NAME.fullmatch(plain) is not None


def has_shell_expansion(raw: str) -> bool:
    """Whether a shell would read `raw` as a path somewhere else, by a tilde or a variable in front."""
    return raw[:1] in ("~", "$", "%") and _SHELL_EXPANSION.match(raw) is not None


def autorun_reason(name: str) -> str:
    """Why writing the file `name`, a path below a root, is as good as running something; "" when it is not."""
    parts = [part.rstrip(". ").casefold() for part in name.split("/")]
    last = parts[-1]
    found = _AUTORUN_NAMES.get(last) or next((why for end, why in _AUTORUN_SUFFIXES.items() if last.endswith(end)), "")
    found = found or next((_AUTORUN_FOLDERS[part] for part in parts if part in _AUTORUN_FOLDERS), "")
    return found or _pair_reason(parts)


def _pair_reason(parts: Sequence[str]) -> str:
    pairs = pairwise(parts)
    return next((_AUTORUN_PAIRS[pair] for pair in pairs if pair in _AUTORUN_PAIRS), "")
