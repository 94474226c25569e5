"""A seccomp filter against system calls that no build or test needs and that past escapes have used."""

import struct

# By architecture, the kernel's number of it and the numbers of the refused calls:
# add_key request_key keyctl, ptrace, perf_event_open, bpf, userfaultfd, io_uring_setup/enter/register.
ARCHITECTURES = {
    "x86_64": (0xC000003E, (248, 249, 250, 101, 298, 321, 323, 425, 426, 427)),
    "aarch64": (0xC00000B7, (217, 218, 219, 117, 241, 280, 282, 425, 426, 427)),
}
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_AT, _ARCH_AT = 0, 4
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | 1  # 1 is EPERM
_X32 = 0x40000000  # the second set of numbers of x86_64, which would bypass the list


def filter_program(machine: str) -> bytes | None:
    """The filter in the format of `prctl` and bubblewrap; None for an unknown architecture."""
    if machine not in ARCHITECTURES:
        return None
    architecture, refused_calls = ARCHITECTURES[machine]
    tests = [(_AT_LEAST, _X32), *((_EQUAL, number) for number in refused_calls)]
    lines = [
        _instruction(_LOAD, _ARCH_AT),
        # A program for another architecture has other numbers: all of its calls are refused.
        _instruction(_EQUAL, architecture, no=len(tests) + 2),
        _instruction(_LOAD, _NUMBER_AT),
        *(_instruction(test, number, yes=len(tests) - at) for at, (test, number) in enumerate(tests)),
        _instruction(_RETURN, _ALLOW),
        _instruction(_RETURN, _REFUSE),
    ]
    return b"".join(lines)


def _instruction(code: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    """`yes` and `no` are how many instructions are skipped."""
    return struct.pack("HBBI", code, yes, no, value)
