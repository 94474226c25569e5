"""What a confined command sees of this machine, as arguments of bubblewrap: programs, but nothing of anybody's own."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
VENDORS = ("/opt/microsoft/powershell",)  # to which /usr/bin links
# Nothing that holds a secret: also the owner of a private key may read it, and in a container that is often root.
CONFIGURATION = (
    *(
        "alternatives",
        "ld.so.cache",
        "ld.so.conf",
        "ld.so.conf.d",
        "localtime",
        "timezone",
        "locale.alias",
        "os-release",
    ),
    *("passwd", "group", "nsswitch.conf", "hosts", "services", "protocols", "mime.types", "terminfo", "fonts", "magic"),
    *("ssl/certs", "ssl/openssl.cnf", "pki/ca-trust", "pki/tls/certs", "ca-certificates", "crypto-policies"),
    *("java-11-openjdk", "java-17-openjdk", "java-21-openjdk", "perl", "python3", "debian_version", "xml", "sgml"),
)
NETWORK = ("resolv.conf", "host.conf", "gai.conf")
HIDDEN = ("/home", "/root", "/run", "/")
SCRATCH = ("/tmp", "/var/tmp")  # noqa: S108 - each command has its own
# Managers of versions put small programs there that call the manager, which lives elsewhere in somebody's home.
_SHIMS = "shims"


@dataclass(frozen=True, kw_only=True)
class HostLayout:
    """`home` is the user's, `state` ours; `folders` are those of PATH, `prefix` that of the running Python."""

    home: str
    state: str
    folders: tuple[str, ...]
    prefix: str


def system_args(*, network: bool) -> list[str]:
    """Programs, libraries and what they need of /etc, unwritable; what else they expect is empty.

    `HIDDEN` can still be written: more is to be mounted there.
    """
    args: list[str] = []
    for path in SYSTEM:
        args += ("--symlink", os.readlink(path), path) if os.path.islink(path) else ("--ro-bind-try", path, path)
    for path in VENDORS:
        args += ("--ro-bind-try", path, path)
    for name in (*CONFIGURATION, *(NETWORK if network else ())):
        args += ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
    for path in (*HIDDEN[:-1], *SCRATCH):
        args += ("--tmpfs", path)
    return [*args, "--proc", "/proc", "--dev", "/dev"]


def program_args(machine: HostLayout, roots: Sequence[str]) -> list[str]:
    """Programs that live elsewhere, unwritable: the folders of PATH, and Pythons whole."""
    named = [folder for folder in machine.folders if os.path.basename(folder) != _SHIMS]
    modules = [os.path.join(os.path.dirname(folder), "lib", "node_modules") for folder in named]
    wanted = [*named, *modules, *python_prefixes(machine.prefix, roots)]
    shown = [path for path in dict.fromkeys(wanted) if _can_mount(path, machine, roots)]
    return [part for path in sorted(shown) for part in ("--ro-bind-try", path, path)]


def python_prefixes(prefix: str, roots: Iterable[str]) -> Iterator[str]:
    """Where the Pythons live that run us and the virtual environments of the roots."""
    yield os.path.realpath(prefix)
    for root in roots:
        for name in (".venv", "venv"):
            program = os.path.realpath(os.path.join(root, name, "bin", "python"))
            found = os.path.dirname(os.path.dirname(program))
            if _is_python(found):  # the link is the project's own, and could lead to anything
                yield found


def _is_python(prefix: str) -> bool:
    library = os.path.join(prefix, "lib")
    try:
        names = [name for name in os.listdir(library) if name.startswith("python3.")]
    except OSError:
        return False
    return any(os.path.isfile(os.path.join(library, name, "os.py")) for name in names)


def _can_mount(path: str, machine: HostLayout, roots: Sequence[str]) -> bool:
    """Whether a folder of programs is there, is not seen anyway, and holds neither a home nor a root."""
    real = os.path.realpath(path)
    seen = (*SYSTEM, *roots)
    held = (machine.home, machine.state, *roots)
    if not os.path.isdir(real) or any(is_within(real, os.path.realpath(place)) for place in seen):
        return False
    return not any(is_within(os.path.realpath(place), real) for place in held)


def is_within(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or beneath it; both are absolute and free of links."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")
