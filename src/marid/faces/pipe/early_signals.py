"""The last line of a request that is interrupted while the program is still being imported."""

from marid.faces.signals import install_early_handlers

_DONE = '{"type":"done","ok":false,"code":"internal_error","message":"%s"}\n'


def interruption_message(signal: str) -> str:
    """The message of the last line."""
    return f"interrupted ({signal})"


def install_early_done() -> None:
    """Call this first, before the slow imports."""
    install_early_handlers(lambda signal: (_DONE % interruption_message(signal)).encode())
