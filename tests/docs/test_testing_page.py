"""The script on the page about testing is one, and so is the message about one that is not."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from marid.core.errors import BadInput
from marid.testing import read_script

PAGE = (Path(__file__).parents[2] / "docs" / "testing.md").read_text("utf-8")
[SCRIPT] = re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_script_on_the_page_is_one() -> None:
    assert len(read_script(SCRIPT).steps) == 7


def test_the_page_has_the_words_for_one_that_is_wrong() -> None:
    script: dict[str, Any] = json.loads(SCRIPT)
    script["turns"][3]["faults"][0]["trickle"]["size"] = 0
    with pytest.raises(BadInput) as told:
        read_script(json.dumps(script))
    assert f"`{told.value}`" in PAGE
