"""Refusals, faults and the gate."""

from marid.testing.faults import (
    Gate,
    bad_request,
    comment,
    context_too_long,
    gateway_error,
    malformed_event,
    overloaded_error,
    rate_limited,
    server_error,
    unauthorized_error,
    unknown_model,
)


def test_every_refusal_has_its_kind() -> None:
    refusals = [rate_limited(), unauthorized_error(), context_too_long(), server_error(), overloaded_error()]
    refusals += [bad_request(), unknown_model(), gateway_error()]
    kinds = ["rate_limit", "unauthorized", "context", "server", "overloaded", "bad_request", "unknown_model", "server"]
    assert [refusal.kind for refusal in refusals] == kinds
    assert gateway_error(504).page.startswith("<html>")


def test_inserted_events_stand_alone() -> None:
    assert comment("hm", after=2).data == b": hm\n\n"
    assert comment("hm", after=2).after == 2
    assert malformed_event().data.endswith(b"\n\n")


def test_a_gate_wakes_waiters_that_come_before_and_after_its_release() -> None:
    gate, woken = Gate(), list[str]()
    assert not gate.wait(0)
    gate.arrive(lambda: woken.append("early"))
    assert gate.wait(0)
    assert woken == []
    gate.release()
    gate.arrive(lambda: woken.append("late"))
    gate.release()
    assert woken == ["early", "late"]
    assert gate.open


def test_a_waiter_that_has_left_is_not_woken() -> None:
    gate, woken = Gate(), list[str]()

    def wake() -> None:
        woken.append("gone")

    gate.arrive(wake)
    gate.leave(wake)
    gate.release()
    assert woken == []
