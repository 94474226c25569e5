from marid.core.ids import new_id


def test_ids_are_26_letters_and_digits_that_are_not_mistaken() -> None:
    made = new_id()
    assert len(made) == 26
    assert set(made) <= set("0123456789abcdefghjkmnpqrstvwxyz")


def test_no_two_ids_are_the_same() -> None:
    assert len({new_id() for _ in range(1000)}) == 1000


def test_later_ids_sort_after_earlier_ones() -> None:
    first = new_id()
    while (later := new_id())[:10] == first[:10]:
        pass
    assert first < later
