import pytest

from marid.adapters.gauges import NoGauges
from marid.core.errors import Unavailable


def test_without_an_interface_there_is_nothing_to_measure() -> None:
    with pytest.raises(Unavailable, match="no user interface is attached"):
        NoGauges().read()
