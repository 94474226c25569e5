"""marid: context, conversations and tools on your own code."""

from marid.core.version import __version__

TYPE_CHECKING = False  # not from typing: what is imported before `main` runs answers Ctrl-C with a traceback
if TYPE_CHECKING:
    from marid.workbench import open_app

__all__ = ["__version__", "open_app"]


def __getattr__(name: str) -> object:
    # Imported when used: a command that calls no tool should not pay for them.
    if name == "open_app":
        from marid.workbench import open_app

        return open_app
    raise AttributeError(f"module 'marid' has no attribute '{name}'")
