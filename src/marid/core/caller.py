"""The caller of a verb, which approvals, records and events carry."""

from typing import NamedTuple


class Caller(NamedTuple):
    """Who calls, through which face. Empty fields are unknown."""

    face: str
    user: str = ""
    conversation: str = ""
    parent: str = ""
    tenant: str = ""
    groups: tuple[str, ...] = ()
