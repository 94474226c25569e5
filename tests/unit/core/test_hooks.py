from typing import NoReturn

import pytest

from marid.core.caller import Caller
from marid.core.hooks import CallChange, CallPayload, ClearPayload, Denial, Hook, HookRunner, Hooks, SwitchPayload
from marid.core.policy.policy import Verdict

CALL = CallPayload(Caller(face="test"), "c1", "look", {"path": "a"})


def broken(payload: object) -> NoReturn:
    raise OSError("gone")


def test_each_hook_sees_what_those_before_it_changed() -> None:
    runner = HookRunner()
    hooks: list[Hook[str, str]] = [lambda text: text + "b", lambda text: None, broken, lambda text: text + "c"]
    assert runner.results(hooks, "a", lambda old, new: new) == ["ab", "abc"]
    assert runner.notes == ["the hook 'broken' failed: OSError: gone"]


def test_the_first_denial_counts_and_a_hook_that_fails_denies() -> None:
    assert HookRunner().denial((lambda payload: None,), "a") is None
    denials: list[Hook[str, Denial]] = [lambda payload: Denial("one"), lambda payload: Denial("two")]
    assert HookRunner().denial(denials, "a") == Denial("one")
    denial = HookRunner().denial((broken, lambda payload: None), "a")
    assert denial is not None
    assert "OSError" in denial.reason


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([None, CallChange({"path": "b"}), CallChange(verdict=Verdict.ASK, reason="r")], (Verdict.ASK, {"path": "b"})),
        ([CallChange(verdict=Verdict.ASK), CallChange(verdict=Verdict.ALLOW)], (Verdict.ASK, None)),
        ([CallChange(verdict=Verdict.DENY), CallChange({"path": "b"})], (Verdict.DENY, None)),
    ],
)
def test_changes_of_a_call_combine_to_the_last_arguments_and_the_strictest_verdict(
    changes: list[CallChange | None], expected: tuple[Verdict, dict[str, str] | None]
) -> None:
    hooks: list[Hook[CallPayload, CallChange]] = [lambda payload, change=change: change for change in changes]
    made = HookRunner().call_change(hooks, CALL)
    assert (made.verdict, made.arguments) == expected


def test_a_hook_that_fails_before_a_call_denies_it() -> None:
    assert HookRunner().call_change((broken,), CALL).verdict is Verdict.DENY


def test_conversations_that_are_switched_and_cleared_are_shown_to_hooks() -> None:
    seen: list[object] = []
    hooks = Hooks(on_context_switch=(seen.append,), pre_clear=(broken, seen.append), post_clear=(seen.append,))
    hooks.run_switch("a", "b")
    hooks.run_pre_clear("b")
    hooks.run_post_clear("b")
    assert seen == [SwitchPayload("a", "b"), ClearPayload("b"), ClearPayload("b")]
