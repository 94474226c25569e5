from marid.text.content_hash import content_key


def test_a_content_has_one_key_of_sixteen_bytes() -> None:
    # Written down: a cache outlives the version that filled it.
    assert content_key(b"marid").hex() == "c01a80661d61a0dd7546224b0625d991"
    assert len(content_key(b"")) == 16


def test_another_content_has_another_key() -> None:
    assert content_key(b"a") != content_key(b"b")
