import pickle

from marid.syntax.python.resolve.facts import MODULE, Binding, BindingKind, FileFacts, ScopeFacts, dotted_name


def test_a_second_definition_is_titled_as_the_first() -> None:
    assert dotted_name("A#2.f#3") == ScopeFacts(key="A#2.f#3", kind="function", line=1).dotted_name == "A.f"
    assert dotted_name(MODULE) == ""


def test_facts_can_travel() -> None:
    file = FileFacts(
        scopes={MODULE: ScopeFacts(key=MODULE, kind="module", line=1, names={"a": Binding(BindingKind.SELF)})}
    )
    assert pickle.loads(pickle.dumps(file)) == file
