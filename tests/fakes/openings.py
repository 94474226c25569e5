"""Both ways to open a name beneath a root, for tests that must hold for either."""

import pytest

from marid.workspace.guard.openat import OpenBeneath, has_openat2, open_stepwise, open_with_openat2

OPENINGS: list[OpenBeneath] = [*([open_with_openat2] if has_openat2() else []), open_stepwise]

both_openings = pytest.mark.parametrize("opening", OPENINGS, ids=lambda opening: opening.__name__)
