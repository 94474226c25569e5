import struct

import pytest

from marid.adapters.sandbox.seccomp import ARCHITECTURES, filter_program

ALLOW, REFUSE = 0x7FFF0000, 0x00050001


def verdict(filter_: bytes, number: int, audit: int) -> int:
    """What the kernel would say: a small interpreter of the four instructions in use."""
    lines = [struct.unpack_from("HBBI", filter_, at) for at in range(0, len(filter_), 8)]
    at, value = 0, 0
    while True:
        code, yes, no, operand = lines[at]
        at += 1
        if code == 0x20:
            value = {0: number, 4: audit}[operand]
        elif code == 0x06:
            return operand
        else:
            at += yes if (value == operand if code == 0x15 else value >= operand) else no


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_the_named_calls_are_refused_and_all_others_allowed(machine: str) -> None:
    filter_ = filter_program(machine)
    assert filter_ is not None
    audit, refused_calls = ARCHITECTURES[machine]
    assert {number for number in range(600) if verdict(filter_, number, audit) == REFUSE} == set(refused_calls)
    assert {verdict(filter_, number, audit) for number in range(600)} == {ALLOW, REFUSE}


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_another_set_of_numbers_is_no_way_round(machine: str) -> None:
    filter_ = filter_program(machine)
    assert filter_ is not None
    assert verdict(filter_, 0x40000000 + 1, ARCHITECTURES[machine][0]) == REFUSE
    assert verdict(filter_, 1, 0x40000003) == REFUSE


def test_an_unknown_machine_has_no_filter() -> None:
    assert filter_program("vax") is None
