"""How a caller says where new Python code goes. Apart from what finds the place, so that naming it parses nothing."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

AnchorType: TypeAlias = Literal["top", "bottom", "before", "after"]


@dataclass(frozen=True, kw_only=True)
class InsertionAnchor:
    """What new code is put beside: an end of its scope, or a name in it."""

    kind: AnchorType
    symbol: str = ""
