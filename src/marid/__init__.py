"""marid: context, memory, hands and knowledge on your own code."""

__all__ = ["__version__"]

# A literal: reading it from the installed metadata costs five bare interpreters.
__version__ = "0.1.0"
