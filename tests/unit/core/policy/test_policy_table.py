import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marid.core.errors import BadInput
from marid.core.policy.policy import Effect, Policy, Verdict, parse_effects, parse_policy, parse_rules

ALLOW, ASK, DENY = Verdict.ALLOW, Verdict.ASK, Verdict.DENY
tables = st.dictionaries(
    st.sampled_from(["read", "write", "exec", "net", "write_file"]), st.sampled_from(["allow", "ask", "deny"])
)


def test_an_empty_table_is_the_default_policy() -> None:
    assert parse_policy({}) == Policy()


def test_effects_tools_outside_and_hosts_are_read() -> None:
    table = {
        "write": "allow",
        "run_shell": "deny",
        "tools": {"fetch_url": "allow"},
        "outside": "ask",
        "hosts": ["Docs.Python.org"],
    }
    policy = parse_policy(table, known=["run_shell", "fetch_url"])
    assert policy.verdict(Effect.WRITE, "x") is ALLOW
    assert policy.verdict(Effect.EXEC, "run_shell") is DENY
    assert policy.verdict(Effect.NET, "fetch_url") is ALLOW
    assert policy.verdict(Effect.EXEC, "x") is ASK
    assert policy.outside is ASK
    assert policy.is_known_host("docs.python.org")


def test_the_limits_of_questions_are_read_and_a_project_can_only_lower_them() -> None:
    assert (parse_policy({}).ask_seconds, parse_policy({}).plan_limit) == (60, 4000)
    user: dict[str, object] = {"ask_seconds": 120, "plan_limit": "500"}
    assert (parse_policy(user).ask_seconds, parse_policy(user).plan_limit) == (120, 500)
    both = parse_policy(user, {"ask_seconds": 30, "plan_limit": 9000})
    assert (both.ask_seconds, both.plan_limit) == (30, 500)


@settings(max_examples=40)
@given(tables, tables)
def test_a_project_can_only_tighten(user: dict[str, str], project: dict[str, str]) -> None:
    alone, both = parse_policy(user), parse_policy(user, project)
    for effect in Effect:
        assert both.verdict(effect, "write_file") >= alone.verdict(effect, "write_file")
        assert both.verdict(effect, "x") >= alone.verdict(effect, "x")


def test_a_projects_hosts_and_open_doors_are_ignored() -> None:
    policy = parse_policy({}, {"hosts": ["evil.org"], "exec": "allow", "outside": "ask"})
    assert not policy.is_known_host("evil.org")
    assert policy.verdict(Effect.EXEC, "run_shell") is ASK
    assert policy.outside is DENY


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"write": "maybe"}, '\'write\' must be "allow", "ask" or "deny", not \'maybe\''),
        ({"write": True}, "not True"),
        ({"wirte": "ask"}, "'wirte' is neither an effect nor a tool; did you mean 'write'?"),
        ({"run_shel": "ask"}, "did you mean 'run_shell'?"),
        ({"zzzzzz": "ask"}, "effects are read, write, exec, net, spawn, meta"),
        ({"outside": "allow"}, "`marid allow PATH`"),
        ({"hosts": "a.org"}, "'hosts' must be a list of host names"),
        ({"hosts": ["http://a.org/"]}, "'hosts' must be a list of host names"),
        ({"hosts": [1]}, "'hosts' must be a list of host names"),
        ({"tools": "all"}, "'tools' must be a table"),
        ({"tools": {"run_shell": 1}}, "'run_shell' must be"),
        ({"*": "allow"}, "'*' is neither"),
        ({"ask_seconds": 0}, "'ask_seconds' must be a number above 0, not 0"),
        ({"plan_limit": True}, "'plan_limit' must be a number above 0, not True"),
        ({"plan_limit": "many"}, "'plan_limit' must be a number above 0, not 'many'"),
    ],
)
def test_a_mistake_is_told_with_what_would_fit(table: dict[str, object], words: str) -> None:
    with pytest.raises(BadInput, match=re.escape(words)):
        parse_rules(table, known=["run_shell", "read_file"])


def test_all_mistakes_are_told_at_once() -> None:
    with pytest.raises(BadInput, match=r"'write'.*; .*'exec'"):
        parse_rules({"write": "x", "exec": "y"})


def test_without_known_tools_any_name_may_be_one() -> None:
    assert parse_rules({"plugin_x": "deny"}).tools == {"plugin_x": DENY}


def test_the_words_of_allow_are_effects() -> None:
    assert parse_effects("write, EXEC,") == {Effect.WRITE, Effect.EXEC}
    assert parse_effects(["net"]) == {Effect.NET}
    assert parse_effects("") == frozenset()
    with pytest.raises(BadInput, match="unknown effect 'wrte'; did you mean 'write'"):
        parse_effects("wrte")
