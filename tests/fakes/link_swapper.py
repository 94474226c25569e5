"""A program that keeps exchanging things in a project for links that lead out of it. Run by its path with the root."""

import ctypes
import os
import sys
from pathlib import Path

_HERE = -100
_EXCHANGE = 2


def prepare(top: Path) -> None:
    """A project, a place outside with a canary, and links to it that wait beside what they will replace."""
    for name in ("r/d/sub/f", "r/d/f", "r/f", "r/.git/config", "out/f", "out/sub/f", "out/canary"):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text("CANARY" if name.startswith("out") else "inside")
    (top / "r/d.link").symlink_to("../out")
    (top / "r/f.link").symlink_to(top / "out/f")
    (top / "r/d/sub.link").symlink_to("../../out/sub")
    (top / "r/way").symlink_to("d")
    (top / "r/way.link").symlink_to("../out")


def exchange(call: "ctypes._NamedFuncPointer", path: str) -> None:  # pyright: ignore[reportPrivateUsage]
    """Put the link in its place in one go, and take it away again."""
    here, there = os.fsencode(path), os.fsencode(f"{path}.link")
    for _ in range(2):
        if call(_HERE, here, _HERE, there, _EXCHANGE):
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code), path)


def main(root: str) -> None:
    """Until killed; says when it begins."""
    call = ctypes.CDLL(None, use_errno=True).renameat2
    os.write(1, b"!")
    while True:
        for name in ("d/sub", "d", "way", "f"):
            exchange(call, f"{root}/{name}")
        if not os.path.islink(f"{root}/f.link"):  # a commit has replaced it while it was in place
            os.unlink(f"{root}/f.link")
            os.symlink(f"{os.path.dirname(root)}/out/f", f"{root}/f.link")


if __name__ == "__main__":
    main(sys.argv[1])
