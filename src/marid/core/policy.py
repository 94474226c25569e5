"""Effects and verdicts: the words that policy is written in."""

from enum import Enum, IntEnum


class Effect(Enum):
    """What a tool does to the world."""

    READ = "read"
    WRITE = "write"
    EXEC = "exec"
    NET = "net"
    SPAWN = "spawn"
    META = "meta"


class Verdict(IntEnum):
    """Ordered, so that combining verdicts is `max`: a further opinion can only make it stricter."""

    ALLOW = 0
    ASK = 1
    DENY = 2
