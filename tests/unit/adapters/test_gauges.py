from collections.abc import Mapping

import pytest

from marid.adapters.gauges import CallbackGauges, NoGauges
from marid.core.errors import Unavailable


def test_without_an_interface_there_is_nothing_to_measure() -> None:
    with pytest.raises(Unavailable, match="no user interface is attached"):
        NoGauges().read()


def test_a_callback_is_asked() -> None:
    assert CallbackGauges(lambda: {"fps": 60}).read() == {"fps": 60.0}


def test_what_breaks_in_a_callback_is_told_in_few_words() -> None:
    def broken() -> Mapping[str, float]:
        raise RuntimeError("the\nwindow is gone " + "x" * 999)

    def silent() -> Mapping[str, float]:
        raise KeyError

    with pytest.raises(Unavailable, match="could not be measured: the window is gone") as caught:
        CallbackGauges(broken).read()
    assert len(str(caught.value)) < 300
    with pytest.raises(Unavailable, match="KeyError"):
        CallbackGauges(silent).read()
