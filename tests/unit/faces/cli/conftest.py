from fakes.program import marid

__all__ = ["marid"]
