"""Whether a conversation is there."""

from marid.app.app import RequestScope
from marid.core.errors import NotFound


def conversation_exists(scope: RequestScope, key: str, *, unused: str = "") -> bool:
    """Whether one of that name or id is; the one that may be `unused` yet need not be.

    Raises: NotFound when another one is not there; BadInput; Unavailable.
    """
    try:
        scope.stores.conversations.get_meta(key)
    except NotFound:
        if key != unused:
            raise
        return False
    return True
