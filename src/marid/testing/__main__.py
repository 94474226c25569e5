"""`python -m marid.testing SCRIPT.json [--port N]`: the server as a command, until it is interrupted."""

import argparse
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import TextIO

from marid.core.errors import BadInput, MaridError
from marid.testing.model_server import ModelServer
from marid.testing.scriptfile import read_script


def serve(args: Sequence[str], out: TextIO, until: threading.Event) -> None:
    """Serve the script that the arguments name, and say where, until the event is set.

    Raises: a MaridError when the script cannot be read or the port is taken.
    """
    parser = argparse.ArgumentParser(prog="python -m marid.testing", description="Play a script as a model server.")
    parser.add_argument(
        "script", metavar="SCRIPT.json", type=Path, help="what the model says; see marid.testing.scriptfile"
    )
    parser.add_argument("--port", type=int, default=0, help="port on loopback (default: a free one)")
    wanted = parser.parse_args(args)
    try:
        text = wanted.script.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read '{wanted.script}': {error}") from error
    with ModelServer(read_script(text), port=wanted.port) as server:
        for name, place in (("openai", server.openai), ("anthropic", server.anthropic), ("google", server.google)):
            out.write(f"{name}\t{place}\n")
        out.flush()
        until.wait()


def main() -> int:
    """The exit code; both signals that end a program end it well."""
    over = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        del number, frame
        over.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    try:
        serve(sys.argv[1:], sys.stdout, over)
    except MaridError as error:
        sys.stderr.write(f"marid.testing: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
