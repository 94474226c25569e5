"""`python -m bench.conversation.gateway`: what our layers add to a streamed event, beside the gateway library alone.

Both ways ask one server on this machine for the same answer, in turns, in one process; processor time is what counts,
as the waiting is the server's. The server runs in a process of its own.
"""

import argparse
import multiprocessing
import sys
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from statistics import median
from typing import TypeAlias

import anyio
import httpx2
from pydantic_ai.direct import model_request_stream

from marid.adapters.gateway.gateway import Gateway
from marid.adapters.gateway.library import model_for, parameters_for, settings_for
from marid.adapters.gateway.providers import Dialect, Provider
from marid.adapters.gateway.translation import history
from marid.core.chat import GatewayEvent, ModelRequest, TextDelta, said
from marid.testing import ModelServer, always, say

BAR = 1.2
Way: TypeAlias = Callable[[Provider, ModelRequest], Awaitable[int]]


def serve(pieces: int, pipe: Connection) -> None:
    """Play the same long answer for ever, until the pipe is closed."""
    with ModelServer([always(say(*(f"word{number} " for number in range(pieces))))]) as server:
        pipe.send((server.openai, server.anthropic, server.google))
        pipe.recv()


@contextmanager
def serving(pieces: int) -> Generator[tuple[str, str, str]]:
    """The addresses of the server, in its three dialects."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(pieces, theirs), daemon=True)
    process.start()
    yield ours.recv()
    ours.send(None)
    process.join(10)


async def library_alone(provider: Provider, request: ModelRequest) -> int:
    """How many events the library gives for the answer."""
    count = 0
    async with httpx2.AsyncClient(timeout=60, verify=False) as client:
        opened = model_request_stream(
            model_for(provider, request.model, client),
            history(request),
            model_settings=settings_for(provider, request),
            model_request_parameters=parameters_for(request),
        )
        async with opened as stream:
            async for _ in stream:
                count += 1
            stream.get()
    return count


async def with_our_layers(provider: Provider, request: ModelRequest) -> int:
    """How many pieces of text reach a listener of ours."""
    count = 0

    async def take(event: GatewayEvent) -> None:
        nonlocal count
        count += isinstance(event, TextDelta)

    await Gateway(provider).stream(request, take)
    return count


async def measure(provider: Provider, pieces: int, rounds: int) -> tuple[float, float]:
    """Microseconds of processor time for an event of the library's, and how many times that ours is.

    Each round asks both ways, one right after the other, and the median of the rounds' ratios counts: what else runs on
    the machine slows down both.
    """
    request = ModelRequest(model="scripted-model", messages=(said("go"),))
    pairs = [
        (await timed(library_alone, provider, request, pieces), await timed(with_our_layers, provider, request, pieces))
        for _ in range(rounds + 1)
    ]
    warm = pairs[1:]
    return median(alone for alone, _ in warm), median(ours / alone for alone, ours in warm)


async def timed(way: Way, provider: Provider, request: ModelRequest, pieces: int) -> float:
    """Microseconds for each of the pieces, all of which must have come."""
    begun = time.process_time()
    count = await way(provider, request)
    spent = time.process_time() - begun
    if count < pieces:
        raise SystemExit(f"only {count} of {pieces} events came")
    return spent / pieces * 1e6


def main() -> int:
    """Measure, print, judge; the exit code is 1 when the bar does not hold."""
    parser = argparse.ArgumentParser(prog="python -m bench.conversation.gateway", description=__doc__)
    parser.add_argument("--pieces", type=int, default=1000, metavar="N", help="events in an answer (default 1000)")
    parser.add_argument("--rounds", type=int, default=15, metavar="N", help="answers in each way (default 15)")
    asked = parser.parse_args()
    worst = 0.0
    with serving(asked.pieces) as (openai, anthropic, google):
        places: dict[Dialect, str] = {"openai": openai, "anthropic": anthropic, "google": google}
        for dialect, url in places.items():
            provider = Provider(id=dialect, dialect=dialect, base_url=url, api_key="no-key-at-all")
            alone, ratio = anyio.run(measure, provider, asked.pieces, asked.rounds)
            worst = max(worst, ratio)
            print(f"{dialect:10} library {alone:6.1f} us an event, with our layers {ratio:.3f}x")
    print(f"at most {BAR}x: {'holds' if worst <= BAR else 'DOES NOT HOLD'} ({worst:.3f}x)")
    return int(worst > BAR)


if __name__ == "__main__":
    sys.exit(main())
