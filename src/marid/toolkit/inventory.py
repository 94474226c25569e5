"""Finding a tool by any of its names."""

from collections.abc import Iterable, Iterator

from marid.core.errors import BadInput, NotFound
from marid.core.suggestions import close_matches, did_you_mean
from marid.text.display import escape_text
from marid.toolkit.spec import ToolSpec


class Inventory:
    """Some tools, in their order. Raises: ValueError when two of them share a name."""

    def __init__(self, specs: Iterable[ToolSpec]) -> None:
        self._specs = tuple(specs)
        self._by_name = {name: spec for spec in self._specs for name in spec.names}
        if len(self._by_name) < sum(len(spec.names) for spec in self._specs):
            raise ValueError("two tools have the same name")

    def __iter__(self) -> Iterator[ToolSpec]:
        return iter(self._specs)

    def __len__(self) -> int:
        return len(self._specs)

    @property
    def families(self) -> tuple[str, ...]:
        """Each once, in the order of their first tools."""
        return tuple(dict.fromkeys(spec.family for spec in self._specs))

    def names(self) -> tuple[str, ...]:
        """All names, aliases too."""
        return tuple(self._by_name)

    def entries(self) -> list[tuple[str, ToolSpec]]:
        """Every name with its tool; aliases follow the tool's own name."""
        return list(self._by_name.items())

    def find(self, name: str) -> ToolSpec:
        """The tool of that name or alias.

        Raises: NotFound that names the nearest ones.
        """
        spec = self._by_name.get(name)
        if spec is None:
            near = did_you_mean(close_matches(name, self._by_name, 3, 0.5))
            raise NotFound(f"no tool is called '{escape_text(name[:100])}'{near}")
        return spec

    def with_families(self, families: Iterable[str]) -> "Inventory":
        """The tools of these families.

        Raises: BadInput for a family that is not there.
        """
        wanted = set(families)
        for family in sorted(wanted.difference(self.families)):
            known = ", ".join(self.families)
            raise BadInput(f"no family is called '{escape_text(family[:100])}'; families are {known}")
        return Inventory(spec for spec in self._specs if spec.family in wanted)
