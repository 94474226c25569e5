from marid.core.caller import Caller


def test_a_caller_is_known_by_the_way_in() -> None:
    caller = Caller(face="cli")
    assert (caller.face, caller.user, caller.conversation, caller.parent, caller.tenant) == ("cli", "", "", "", "")
    assert caller.groups == ()
