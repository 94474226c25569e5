"""`python -m marid.testing SCRIPT.json [--port N]`: run the server until it is interrupted."""

import argparse
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from marid.core.errors import BadInput, MaridError
from marid.testing.model_server import ModelServer
from marid.testing.scriptfile import read_script


def serve(args: Sequence[str], out: TextIO, until: threading.Event) -> None:
    """Serve the script and print the addresses, until the event is set. Raises: BadInput, Unavailable."""
    parser = argparse.ArgumentParser(prog="python -m marid.testing", description="Serve a scripted model.")
    help = "what the model says; see `pydoc marid.testing.scriptfile`"
    parser.add_argument("script", metavar="SCRIPT.json", type=Path, help=help)
    parser.add_argument("--port", type=int, default=0, help="port on loopback (default: a free one)")
    wanted = parser.parse_args(args)
    try:
        text = wanted.script.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read '{wanted.script}': {error}") from error
    with ModelServer(read_script(text), port=wanted.port) as server:
        for name, url in (("openai", server.openai), ("anthropic", server.anthropic), ("google", server.google)):
            out.write(f"{name}\t{url}\n")
        out.flush()
        until.wait()


def main() -> int:
    """Serve until SIGINT or SIGTERM; returns the exit code."""
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: stopped.set())
    try:
        serve(sys.argv[1:], sys.stdout, stopped)
    except MaridError as error:
        sys.stderr.write(f"marid.testing: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
