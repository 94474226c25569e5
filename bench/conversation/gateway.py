"""`python -m bench.conversation.gateway`: what our layers add to a streamed event, against the gateway library alone.

Both ask one server on this machine for the same answer, in turns, in one process; CPU time is measured, since waiting
is the server's part.
"""

import argparse
import sys
import time
from collections.abc import Awaitable, Callable
from statistics import median
from typing import TypeAlias

import anyio
import httpx2
from pydantic_ai.direct import model_request_stream

from bench.bars import Bar
from bench.conversation.serving import serving
from marid.adapters.gateway.gateway import Gateway
from marid.adapters.gateway.library_request import model_for, parameters_for, settings_for
from marid.adapters.gateway.message_translation import to_library_messages
from marid.adapters.gateway.providers import Dialect, Provider
from marid.core.caller import Caller
from marid.core.events import Event
from marid.core.model_io import ModelRequest, TextDelta, user_message
from marid.core.round_events import RoundEvent
from marid.engine.reply_stream import ReplyStream
from marid.toolkit.event_stream import AsyncEventStream

BAR = 1.2
PIECES, ROUNDS = 1000, 25
Way: TypeAlias = Callable[[Provider, ModelRequest], Awaitable[int]]


async def library_alone(provider: Provider, request: ModelRequest) -> int:
    """The number of events that the library emits for the answer."""
    count = 0
    async with httpx2.AsyncClient(timeout=60, verify=False) as client:
        opened = model_request_stream(
            model_for(provider, request.model, client),
            to_library_messages(request),
            model_settings=settings_for(provider, request),
            model_request_parameters=parameters_for(request),
        )
        async with opened as stream:
            async for _ in stream:
                count += 1
            stream.get()
    return count


async def with_our_layers(provider: Provider, request: ModelRequest) -> int:
    """The number of text events that reach a listener through the gateway and the loop."""
    count = 0

    async def listen(event: Event[RoundEvent]) -> None:
        nonlocal count
        count += type(event.what) is TextDelta

    emit = AsyncEventStream(Caller(face="bench"), listen, "r1").emit
    await Gateway(provider).stream(request, ReplyStream(request.model, emit).feed)
    return count


async def measure(provider: Provider, pieces: int, rounds: int) -> tuple[float, float]:
    """Microseconds of CPU time for an event of the library, and the ratio of ours to it.

    Each round asks both ways directly after each other, and the median of the ratios counts: other work on the machine
    slows down both.
    """
    request = ModelRequest(model="scripted-model", messages=(user_message("go"),))
    warm: list[tuple[float, float]] = []
    for number in range(-1, rounds):
        # In alternating order: the second finds a warmer machine.
        ways: tuple[Way, Way] = (library_alone, with_our_layers)
        ways = ways if number % 2 else (with_our_layers, library_alone)
        spent = {way: await timed(way, provider, request, pieces) for way in ways}
        if number >= 0:
            warm.append((spent[library_alone], spent[with_our_layers]))
    return median(alone for alone, _ in warm), median(ours / alone for alone, ours in warm)


async def timed(way: Way, provider: Provider, request: ModelRequest, pieces: int) -> float:
    """Microseconds for each piece; fails unless all have come."""
    begun = time.process_time()
    count = await way(provider, request)
    spent = time.process_time() - begun
    if count < pieces:
        raise SystemExit(f"only {count} of {pieces} events came")
    return spent / pieces * 1e6


def events(pieces: int, rounds: int) -> list[Bar]:
    """A limit for every dialect."""
    bars: list[Bar] = []
    with serving(pieces) as (openai, anthropic, google):
        urls: dict[Dialect, str] = {"openai": openai, "anthropic": anthropic, "google": google}
        for dialect, url in urls.items():
            provider = Provider(id=dialect, dialect=dialect, base_url=url, api_key="no-key-at-all")
            alone, ratio = anyio.run(measure, provider, pieces, rounds)
            bars.append(Bar(f"{dialect}: the library alone, µs an event", alone))
            bars.append(Bar(f"{dialect}: an event through our layers / the library", ratio, f"<= {BAR}", ratio <= BAR))
    return bars


def main() -> int:
    """Measure and print; returns the exit code, 1 when a limit does not hold."""
    parser = argparse.ArgumentParser(prog="python -m bench.conversation.gateway", description=__doc__)
    parser.add_argument("--pieces", type=int, default=PIECES, metavar="N", help=f"events in an answer ({PIECES})")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help=f"answers in each way ({ROUNDS})")
    options = parser.parse_args()
    bars = events(options.pieces, options.rounds)
    print(*(bar.row() for bar in bars), sep="\n")
    return int(any(bar.holds is False for bar in bars))


if __name__ == "__main__":
    sys.exit(main())
