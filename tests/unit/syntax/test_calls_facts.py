import pickle

from marid.syntax.calls_facts import MODULE, Bound, File, Kind, Scope, title


def test_a_second_definition_is_titled_as_the_first() -> None:
    assert title("A#2.f#3") == Scope(key="A#2.f#3", kind="function", line=1).title == "A.f"
    assert title(MODULE) == ""


def test_facts_can_travel() -> None:
    file = File(scopes={MODULE: Scope(key=MODULE, kind="module", line=1, names={"a": Bound(Kind.SELF)})})
    assert pickle.loads(pickle.dumps(file)) == file
