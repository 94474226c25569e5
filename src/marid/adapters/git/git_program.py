"""Run git with a small environment, in folders that may be hostile."""

import os
from collections.abc import Mapping, Sequence
from functools import cached_property

from marid.adapters.process import programs
from marid.adapters.process.programs import ProgramLimits, ProgramResult
from marid.core.errors import Unavailable

SAFE_ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_LITERAL_PATHSPECS": "1",
}
CONFIG_OVERRIDES = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.attributesFile": os.devnull,
    "core.quotePath": "false",
    "core.bigFileThreshold": "50m",
    "diff.algorithm": "default",
    "submodule.recurse": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
}
# Git needs these to find the user's configuration, keys and proxies. No GIT_ variable is among them.
INHERITED_VARIABLES = (
    *("HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "USER", "LOGNAME", "SUDO_UID"),
    *("SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR", "http_proxy", "https_proxy", "HTTPS_PROXY"),
    *("all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"),
)


class GitProgram:
    """git as found once on the PATH of `env`, which is the user's environment, but not below `roots`."""

    def __init__(self, env: Mapping[str, str], limits: ProgramLimits, roots: Sequence[str] = ()) -> None:
        self._env = programs.trusted_environment(env, roots)
        self._limits = limits
        self._roots = roots

    def run_isolated(
        self, *args: str, cwd: str, extra: Mapping[str, str] | None = None, stdin: int | None = None
    ) -> ProgramResult:
        """Run git with no configuration but that of the git folder it is given; `stdin` is a file."""
        isolation = {
            "HOME": os.devnull,
            "XDG_CONFIG_HOME": os.devnull,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_ATTR_NOSYSTEM": "1",
        }
        return self._run(args, cwd, isolation | dict(extra or {}), stdin)

    def run_with_user_config(self, *args: str, cwd: str, extra: Mapping[str, str] | None = None) -> ProgramResult:
        """Run git with the user's global configuration."""
        inherited = {name: self._env[name] for name in INHERITED_VARIABLES if name in self._env}
        return self._run(args, cwd, inherited | dict(extra or {}))

    def _run(self, args: tuple[str, ...], cwd: str, env: Mapping[str, str], stdin: int | None = None) -> ProgramResult:
        settings = [part for name, value in CONFIG_OVERRIDES.items() for part in ("-c", f"{name}={value}")]
        argv = [self._program, "--no-pager", *settings, *args]
        env = {"PATH": self._env["PATH"]} | SAFE_ENVIRONMENT | dict(env)
        given = programs.NO_INPUT if stdin is None else stdin
        return programs.run(argv, cwd=cwd, env=env, limits=self._limits, stdin=given)

    @cached_property
    def _program(self) -> str:
        program = programs.find("git", self._env, self._roots)
        if program is None:
            raise Unavailable("git is not installed: it is not on the PATH, where folders of projects do not count")
        return program


def check_status(result: ProgramResult, command: str) -> ProgramResult:
    """The result, if its status is 0 (yes) or 1 (no). Raises: Unavailable."""
    if result.status not in (0, 1):
        raise Unavailable(f"{command} failed: {result.error_line()}")
    return result
