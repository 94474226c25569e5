"""What the process was started with: the one place that reads the environment."""

import os
from collections.abc import Mapping

from marid.workspace.ignores import UserFiles


def home_of(environ: Mapping[str, str]) -> str:
    """Where marid keeps its own files: MARID_HOME, else CHIBI_HOME, else ~/.marid."""
    given = environ.get("MARID_HOME") or environ.get("CHIBI_HOME")
    return os.path.abspath(given) if given else os.path.join(os.path.expanduser("~"), ".marid")


def git_files(environ: Mapping[str, str]) -> UserFiles:
    """Where git looks for this user's configuration, as git's own documentation lists it."""
    home = environ.get("HOME", "") or os.path.expanduser("~")
    shared = environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    system = () if environ.get("GIT_CONFIG_NOSYSTEM") else (environ.get("GIT_CONFIG_SYSTEM") or "/etc/gitconfig",)
    own = environ.get("GIT_CONFIG_GLOBAL")
    globals_ = (own,) if own else (os.path.join(shared, "git", "config"), os.path.join(home, ".gitconfig"))
    return UserFiles(configs=(*system, *globals_), excludes=os.path.join(shared, "git", "ignore"), home=home)


def completion_asked(program: str) -> tuple[str, str] | None:
    """The variable by which a shell asks for completions of a program's command line, and what it says; else None."""
    variable = f"_{program.upper()}_COMPLETE"
    return (variable, os.environ[variable]) if os.environ.get(variable) else None


def no_plugins() -> None:
    """Keep pydantic from looking through all that is installed for plugins: the program uses none.

    Only for a process of our own; for a program that uses marid as a library it is not ours to say.
    """
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


def colour_wanted(environ: Mapping[str, str]) -> bool:
    """Whether a terminal should be coloured: NO_COLOR and a dumb terminal say no, FORCE_COLOR says yes."""
    if environ.get("NO_COLOR"):
        return False
    return bool(environ.get("FORCE_COLOR")) or environ.get("TERM", "dumb") != "dumb"
