from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from marid.core.policy.policy import DEFAULT_RULES, HARMLESS_EFFECTS, Effect, Policy, PolicyRules, Verdict

ALLOW, ASK, DENY = Verdict.ALLOW, Verdict.ASK, Verdict.DENY
TOOLS = ("write_file", "run_shell", "shell_exec")

verdicts = st.sampled_from(Verdict)
rules = st.builds(
    PolicyRules,
    effects=st.dictionaries(st.sampled_from(Effect), verdicts, max_size=3),
    tools=st.dictionaries(st.sampled_from(TOOLS), verdicts, max_size=2),
    outside=st.none() | verdicts,
    hosts=st.frozensets(st.sampled_from(["a.org", "b.org"])),
)
policies = st.builds(
    Policy,
    layers=st.lists(rules, max_size=3).map(tuple),
    granted=st.frozensets(st.sampled_from(Effect)),
    trusted=st.booleans(),
    read_only=st.booleans(),
    narrower=st.lists(rules, max_size=2).map(tuple),
)
few = settings(max_examples=40)
names = st.lists(st.sampled_from(TOOLS), unique=True, max_size=2)


def test_by_default_reading_is_free_and_everything_else_asks() -> None:
    assert [effect for effect in Effect if Policy().verdict(effect, "any") is ALLOW] == [Effect.READ, Effect.META]
    assert {Policy().verdict(effect, "any") for effect in set(Effect) - HARMLESS_EFFECTS} == {ASK}
    assert Policy().outside is DENY


def test_an_effect_that_nobody_named_is_denied() -> None:
    assert Policy(layers=()).verdict(Effect.READ, "read_file") is DENY
    assert Policy(layers=(PolicyRules(),)).verdict(Effect.READ, "read_file") is DENY
    assert Policy(layers=()).outside is DENY
    assert Policy(layers=(PolicyRules(),)).outside is DENY


def test_a_tools_own_rule_stands_for_its_effects_within_a_layer() -> None:
    base = PolicyRules(effects={Effect.WRITE: DENY}, tools={"write_file": ALLOW})
    assert Policy(layers=(base,)).verdict(Effect.WRITE, "write_file") is ALLOW
    assert Policy(layers=(base,)).verdict(Effect.WRITE, "edit_file") is DENY


def test_a_rule_for_an_alias_is_a_rule_for_the_tool() -> None:
    base = replace(DEFAULT_RULES, tools={"shell_exec": DENY, "run_shell": ALLOW})
    assert Policy(layers=(base,)).verdict(Effect.EXEC, "run_shell", "shell_exec") is DENY


def test_a_further_layer_can_only_tighten() -> None:
    loose = PolicyRules(effects={Effect.WRITE: ALLOW, Effect.READ: ASK})
    policy = Policy(layers=(DEFAULT_RULES, loose))
    assert policy.verdict(Effect.WRITE, "x") is ASK
    assert policy.verdict(Effect.READ, "x") is ASK


def test_a_grant_turns_ask_into_allow_and_never_deny() -> None:
    policy = Policy(
        layers=(DEFAULT_RULES, PolicyRules(tools={"rm": DENY}, effects={Effect.READ: ASK})),
        granted=frozenset({Effect.WRITE}),
    )
    assert policy.verdict(Effect.WRITE, "write_file") is ALLOW
    assert policy.verdict(Effect.WRITE, "rm") is DENY
    assert policy.verdict(Effect.EXEC, "run_shell") is ASK
    assert policy.verdict(Effect.READ, "x") is ASK
    assert replace(policy, trusted=True).verdict(Effect.EXEC, "run_shell") is ALLOW
    assert replace(policy, trusted=True).verdict(Effect.WRITE, "rm") is DENY


def test_read_only_beats_grants() -> None:
    policy = Policy(granted=frozenset(Effect), trusted=True, read_only=True)
    assert [effect for effect in Effect if policy.verdict(effect, "x") is not DENY] == [Effect.READ, Effect.META]


def test_a_child_that_must_ask_asks_although_its_parent_need_not() -> None:
    parent = Policy(granted=frozenset({Effect.WRITE}))
    child = parent.restrict(PolicyRules(effects={Effect.WRITE: ASK}))
    assert parent.verdict(Effect.WRITE, "x") is ALLOW
    assert child.verdict(Effect.WRITE, "x") is ASK


def test_a_child_has_no_more_effects_than_it_was_given() -> None:
    child = Policy(trusted=True).restrict(effects=[Effect.READ, Effect.WRITE])
    assert [effect for effect in Effect if child.verdict(effect, "x") is ALLOW] == [Effect.READ, Effect.WRITE]


@few
@given(policies, st.none() | rules, st.none() | st.sets(st.sampled_from(Effect)), st.booleans(), names)
def test_narrowing_never_widens(
    policy: Policy, added: PolicyRules | None, effects: set[Effect] | None, read_only: bool, called: list[str]
) -> None:
    child = policy.restrict(added, effects=effects, read_only=read_only)
    assert all(child.verdict(effect, *called) >= policy.verdict(effect, *called) for effect in Effect)
    assert child.outside >= policy.outside
    assert all(policy.is_known_host(host) or not child.is_known_host(host) for host in ("a.org", "b.org"))
    assert child.trusted <= policy.trusted
    assert child.granted == policy.granted


@few
@given(policies, rules, names)
def test_one_more_layer_never_widens(policy: Policy, added: PolicyRules, called: list[str]) -> None:
    if policy.layers:
        stricter = replace(policy, layers=(*policy.layers, added))
        assert all(stricter.verdict(effect, *called) >= policy.verdict(effect, *called) for effect in Effect)
        assert stricter.outside >= policy.outside


@few
@given(policies, names)
def test_grants_and_trust_never_lift_a_denial(policy: Policy, called: list[str]) -> None:
    bare = replace(policy, granted=frozenset(), trusted=False)
    full = replace(policy, granted=frozenset(Effect), trusted=True)
    for effect in Effect:
        assert (bare.verdict(effect, *called) is DENY) == (full.verdict(effect, *called) is DENY)
        assert full.verdict(effect, *called) <= bare.verdict(effect, *called)


@few
@given(policies, names)
def test_read_only_leaves_the_harmless_as_they_were(policy: Policy, called: list[str]) -> None:
    closed = policy.restrict(read_only=True)
    for effect in Effect:
        expected = policy.verdict(effect, *called) if effect in HARMLESS_EFFECTS else DENY
        assert closed.verdict(effect, *called) is expected


def test_a_path_outside_is_at_best_asked_for() -> None:
    assert Policy(layers=(replace(DEFAULT_RULES, outside=ASK),)).outside is ASK
    assert Policy(layers=(replace(DEFAULT_RULES, outside=ALLOW),)).outside is ASK
    assert Policy(layers=(replace(DEFAULT_RULES, outside=ASK), PolicyRules(outside=DENY))).outside is DENY
    assert Policy(layers=(DEFAULT_RULES, PolicyRules(outside=ASK))).outside is DENY


def test_hosts_are_known_from_the_users_own_layer_only() -> None:
    policy = Policy(
        layers=(replace(DEFAULT_RULES, hosts=frozenset({"a.org"})), PolicyRules(hosts=frozenset({"b.org"})))
    )
    assert policy.is_known_host("A.org")
    assert not policy.is_known_host("b.org")
    assert not Policy(layers=()).is_known_host("a.org")


def test_stronger_rules_fall_back_on_weaker_ones() -> None:
    strong = PolicyRules(effects={Effect.WRITE: ALLOW}, tools={"a": DENY}, hosts=frozenset({"h"}))
    both = strong.with_fallback(replace(DEFAULT_RULES, tools={"a": ALLOW, "b": ASK}))
    assert both.effects[Effect.WRITE] is ALLOW
    assert both.effects[Effect.READ] is ALLOW
    assert both.tools == {"a": DENY, "b": ASK}
    assert both.outside is DENY
    assert PolicyRules(outside=ASK).with_fallback(DEFAULT_RULES).outside is ASK
