"""Both ways to open a name beneath a root, for tests that must hold for either."""

import pytest

from marid.workspace.beneath import Opening, kernel_can, open_by_kernel, open_by_steps

OPENINGS: list[Opening] = [*([open_by_kernel] if kernel_can() else []), open_by_steps]

both_openings = pytest.mark.parametrize("opening", OPENINGS, ids=lambda opening: opening.__name__)
