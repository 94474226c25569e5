"""Running commands: the bodies plan them, the dispatcher asks and runs them."""

from contextlib import suppress
from functools import partial
from typing import Annotated, cast

from marid.core.errors import BadInput, MaridError, Unavailable
from marid.core.policy.policy import Effect
from marid.ports.processes import FailureAnalyst, ProcessRunner
from marid.text.display import combine_streams, quote_path, truncate_middle
from marid.text.secrets.masker import Masker
from marid.toolkit.handles import FolderRef
from marid.toolkit.outcome import CommandPlan, ProcessResult, ToolOutput
from marid.toolkit.spec import Alias, tool

SHELL = "/bin/sh"
POWERSHELLS = ("powershell.exe", "pwsh.exe", "powershell", "pwsh")
MAX_TIMEOUT = 3600.0
MAX_COMMAND_BYTES = 100_000  # bytes; the kernel takes 131,071 in one argument
MAX_STDERR = 8_000
_HERE = cast(FolderRef, ".")  # parsed like a path that was given


@tool(
    family="shell",
    effect=Effect.EXEC,
    aliases=(Alias(name="shell_exec", renames=(("timeout_secs", "timeout"),), defaults=(("timeout", 30),)),),
)
def run_shell(
    command: Annotated[str, "the commands for sh, on any number of lines"],
    cwd: Annotated[FolderRef, "the folder to start in"] = _HERE,
    timeout: Annotated[float, "seconds after which the command and all that it started are killed"] = 60,
    *,
    analyst: FailureAnalyst | None = None,
) -> CommandPlan:
    """Run a shell command in the project; gives what it printed and its exit code.

    It is run by sh without input, without a terminal, with a small environment and, where there is a sandbox, in it:
    then it can write in the project only, but not in .git, and has no network. Nothing is kept between calls; nothing
    that it starts outlives it. Of long output the beginning and the end are given. A failing command is no tool error.
    """
    return _plan((SHELL, "-c", command), cwd, timeout, analyst)


@tool(family="shell", effect=Effect.EXEC)
def run_powershell(
    script: Annotated[str, "the script, on any number of lines"],
    cwd: Annotated[FolderRef, "the folder to start in"] = _HERE,
    timeout: Annotated[float, "seconds after which the script and all that it started are killed"] = 60,
    *,
    processes: ProcessRunner,
    analyst: FailureAnalyst | None = None,
) -> CommandPlan:
    """Run a PowerShell script in the project; gives what it printed and its exit code.

    As run_shell, but by the first of powershell.exe, pwsh.exe, powershell and pwsh that is there, without a profile.
    """
    program = processes.find(*POWERSHELLS)
    if program is None:
        raise Unavailable(f"no PowerShell is installed: looked for {', '.join(POWERSHELLS)} on the PATH")
    # The folder is that of the process and no part of the script, where a quote in its name would end a string.
    return _plan((program, "-NoProfile", "-NonInteractive", "-Command", script), cwd, timeout, analyst)


def _plan(argv: tuple[str, ...], cwd: FolderRef, seconds: float, analyst: FailureAnalyst | None) -> CommandPlan:
    command = argv[-1]
    if not command.strip():
        raise BadInput("a command is needed")
    if "\0" in command:
        raise BadInput("a command cannot hold a NUL character")
    if len(command.encode("utf-8", "surrogatepass")) > MAX_COMMAND_BYTES:
        raise BadInput(f"the command is longer than {MAX_COMMAND_BYTES:,} bytes: write a script to a file and run that")
    if not 0 < seconds <= MAX_TIMEOUT:
        raise BadInput(f"timeout: it must be more than 0 and at most {MAX_TIMEOUT:g} seconds")
    if not cwd.path.is_folder():
        raise BadInput(f"'{quote_path(cwd.raw)}' is a file, not a folder")
    report = partial(_report, command, seconds, analyst)
    return CommandPlan(argv=argv, display=command, cwd=cwd.path, timeout=seconds, finish=report)


def _report(command: str, seconds: float, analyst: FailureAnalyst | None, ran: ProcessResult) -> ToolOutput:
    """What a command printed and its exit code; an analyst that fails is left out."""
    out, err = truncate_middle(ran.out), truncate_middle(ran.err)
    text = combine_streams(out, err, ran.status)
    if ran.timed_out:
        text += f"\nERROR: timed out after {seconds:g}s"
    if analyst is not None and ran.status != 0:
        with suppress(MaridError):
            opinion = analyst.analyse(_mask_secrets(command), _mask_secrets(ran.err)[-MAX_STDERR:])
            text += f"\nQA ANALYSIS:\n{opinion}" if opinion else ""
    times = {"seconds": round(ran.seconds, 3), "timed_out": ran.timed_out}
    return ToolOutput(text=text, values={"exit_code": ran.status, **times, "stdout": out, "stderr": err})


def _mask_secrets(text: str) -> str:
    """For a model that is not the caller's; as strict as in a configuration file."""
    data, _ = Masker().mask(text.encode("utf-8", "surrogatepass"), "stderr.env")
    return data.decode("utf-8", "replace")
