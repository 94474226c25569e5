"""Who asks. Travels on every verb, approval, record and event."""

from typing import NamedTuple


class Caller(NamedTuple):
    """`face` is the way in; the rest is empty until conversations and teams exist."""

    face: str
    user: str = ""
    conversation: str = ""
    parent: str = ""
    tenant: str = ""
    groups: tuple[str, ...] = ()
