"""The environment of commands: a few of the user's variables, and what `mcp_env.toml` in the home adds."""

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from marid.core.errors import BadInput

FILE = "mcp_env.toml"
# What programs need; nothing that could be a key.
ALLOWED = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TERM", "COLORTERM", "NO_COLOR", "TMPDIR"),
    *("SYSTEMROOT", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE"),
)
ALLOWED_PREFIXES = ("LC_",)
# These make a program load or run other code. A command can still set them itself, where a person sees it.
LOADERS = frozenset(
    (
        *("BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND", "IFS", "CDPATH", "ZDOTDIR"),
        *("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PERL5LIB", "PERL5OPT", "RUBYLIB", "RUBYOPT", "NODE_OPTIONS"),
        *("NODE_PATH", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH", "GCONV_PATH", "NLSPATH"),
        *("GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_EXEC_PATH", "GIT_PAGER", "GIT_EDITOR", "GIT_ASKPASS"),
        *("GIT_CONFIG", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_COUNT", "GIT_DIR", "GLIBC_TUNABLES", "PSMODULEPATH"),
    )
)
LOADER_PREFIXES = ("LD_", "DYLD_", "BASH_FUNC_")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, kw_only=True)
class ShellEnvironment:
    """The environment of commands, and warnings about the file."""

    variables: Mapping[str, str]
    warnings: tuple[str, ...] = ()


def shell_environment(environ: Mapping[str, str], home: str) -> ShellEnvironment:
    """Merge `environ` and `<home>/mcp_env.toml`. Raises: BadInput for an invalid file."""
    building = _EnvironmentBuilder(environ)
    try:
        with open(os.path.join(home, FILE), "rb") as file:
            building.add(tomllib.load(file))
    except FileNotFoundError:
        pass
    except OSError as error:
        raise BadInput(f"{FILE} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{FILE} is not valid TOML: {error}") from error
    return ShellEnvironment(variables=building.variables, warnings=tuple(building.warnings))


class _EnvironmentBuilder:
    """A reference may name any variable of the user, and what the file has set before."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        kept = {name: value for name, value in environ.items() if name in ALLOWED or name.startswith(ALLOWED_PREFIXES)}
        kept["PATH"] = os.pathsep.join(
            part for part in kept.get("PATH", os.defpath).split(os.pathsep) if _is_single_absolute(part)
        )
        self.variables = kept
        self.warnings: list[str] = []
        self._references = dict(environ) | kept

    def add(self, document: Mapping[str, Any]) -> None:
        """Take in the whole file. Raises: BadInput."""
        tables = {"path": self._prepend, "env": self._set}
        for name, table in document.items():
            if name not in tables or not isinstance(table, dict):
                raise BadInput(f"{FILE}: '{name}' is unknown; use the tables [path] and [env]")
        for name, take in tables.items():  # the path first: it may be referred to
            take(cast("dict[str, Any]", document.get(name, {})))

    def _prepend(self, table: Mapping[str, Any]) -> None:
        folders = table.get("prepend", [])
        if set(table) - {"prepend"} or not isinstance(folders, list):
            raise BadInput(f"{FILE}: [path] takes only prepend, a list of folders")
        named = [self._expand(folder, "[path] prepend") for folder in cast("list[object]", folders)]
        if loose := [folder for folder in named if not _is_single_absolute(folder)]:
            raise BadInput(f"{FILE}: [path] prepend: '{loose[0]}' is not an absolute folder")
        self._set_variable("PATH", os.pathsep.join([*named, *filter(None, [self.variables["PATH"]])]))

    def _set(self, table: Mapping[str, Any]) -> None:
        for name, value in table.items():
            if not _NAME.fullmatch(name):
                raise BadInput(f"{FILE}: [env] '{name}' is not a valid variable name")
            expanded = self._expand(value, f"[env] {name}")
            if name.upper() in LOADERS or name.upper().startswith(LOADER_PREFIXES):
                self.warnings.append(f"{FILE}: {name} is ignored: it would make programs load other code")
            else:
                self._set_variable(name, expanded)

    def _set_variable(self, name: str, value: str) -> None:
        self.variables[name] = self._references[name] = value

    def _expand(self, value: object, where: str) -> str:
        if not isinstance(value, str) or "\0" in value:
            raise BadInput(f"{FILE}: {where}: must be a string")
        missing = [name for name in _REFERENCE.findall(value) if name not in self._references]
        self.warnings += [f"{FILE}: {where}: ${{{name}}} is not set" for name in missing]
        return _REFERENCE.sub(lambda match: self._references.get(match[1], ""), value)


def _is_single_absolute(folder: str) -> bool:
    """Whether it is one absolute path: a relative one would be in the project."""
    return os.path.isabs(folder) and os.pathsep not in folder
