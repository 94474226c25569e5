"""The last line of a request that is interrupted before anything of it was read."""

from marid.faces.signals import answer_early

_DONE = '{"type":"done","ok":false,"code":"internal_error","message":"%s"}\n'


def interruption(signal: str) -> str:
    """What is said of it."""
    return f"interrupted ({signal})"


def done_early() -> None:
    """To be called first thing: reading the program takes longer than some have patience."""
    answer_early(lambda signal: (_DONE % interruption(signal)).encode())
