"""Start the program. The name it is called by selects the command line."""

import gc
import os
import sys

from marid.core.version import __version__

_NAMES = ("marid", "chibi", "__main__.py")


def main() -> None:
    """Run the program and end the process with its exit code."""
    # A short run leaves no cycles worth collecting, and collecting costs a tenth of it. Long-running commands switch it
    # on again.
    gc.disable()
    # A closed output (`2>&-`) means that it is not wanted, so it must not make the program fail.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115 - open until the end
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    if sys.argv[1:] in (["--version"], ["-V"]) and os.path.basename(sys.argv[0]) in _NAMES:
        # Before anything else is imported: prompts and scripts ask for it often.
        try:
            sys.stdout.write(f"marid {__version__}\n")
            sys.stdout.flush()
        except OSError:
            pass  # reported below, as for every other command
        else:
            return
    if sys.argv[1:2] == ["json"] or os.path.basename(sys.argv[0]) == "chibi-json":
        # Before the rest is imported, so that an interrupted import still prints the last JSON line.
        from marid.faces.pipe.early_signals import install_early_done

        install_early_done()
    # Imported here, so that Ctrl-C during the import itself ends quietly too.
    try:
        from marid.launch.start import exit_process, run

        exit_process(run(sys.argv))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
