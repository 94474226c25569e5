"""Where new Python code goes. Separate from the code that finds the place, so that importing it loads no parser."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

AnchorType: TypeAlias = Literal["top", "bottom", "before", "after"]


@dataclass(frozen=True, kw_only=True)
class InsertionAnchor:
    """An end of a scope, or a name in it."""

    kind: AnchorType
    symbol: str = ""
