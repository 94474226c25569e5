"""The last line of a request that is interrupted before anything of it was read."""

from marid.faces.signals import install_early_handlers

_DONE = '{"type":"done","ok":false,"code":"internal_error","message":"%s"}\n'


def interruption_message(signal: str) -> str:
    """What is said of it."""
    return f"interrupted ({signal})"


def install_early_done() -> None:
    """To be called first thing: reading the program takes longer than some have patience."""
    install_early_handlers(lambda signal: (_DONE % interruption_message(signal)).encode())
