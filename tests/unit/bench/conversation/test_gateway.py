"""What is measured of a stream, on a small scale; how fast it is does not matter here."""

from bench.conversation.gateway import events


def test_every_dialect_is_asked_in_both_ways() -> None:
    bars = events(20, 1)
    assert [bar.limit for bar in bars] == ["", "<= 1.2"] * 3
    assert all(bar.value > 0 for bar in bars)
