"""What a confined command sees of the system, as arguments of bubblewrap: programs, but no files of a user."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from glob import escape, glob

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
VENDORS = ("/opt/microsoft/powershell",)  # /usr/bin links to it
# No secrets: a command runs as the user, who in a container is often root and may read private keys.
CONFIGURATION = (
    *("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "timezone", "locale.alias"),
    *("os-release", "passwd", "group", "nsswitch.conf", "hosts", "services", "protocols"),
    *("mime.types", "terminfo", "fonts", "magic"),
    *("ssl/certs", "ssl/openssl.cnf", "pki/ca-trust", "pki/tls/certs", "ca-certificates", "crypto-policies"),
    *("java-11-openjdk", "java-17-openjdk", "java-21-openjdk", "perl", "python3", "debian_version", "xml", "sgml"),
)
NETWORK = ("resolv.conf", "host.conf", "gai.conf")
HIDDEN = ("/home", "/root", "/run", "/")
SCRATCH = ("/tmp", "/var/tmp")  # noqa: S108 - each command has its own
# Version managers put wrappers there, which need the manager in the user's home.
_SHIMS = "shims"


@dataclass(frozen=True, kw_only=True)
class HostLayout:
    """`home` is the user's, `state` our folder; `folders` are those of PATH, `prefix` is the running Python's."""

    home: str
    state: str
    folders: tuple[str, ...]
    prefix: str


def system_args(*, network: bool) -> list[str]:
    """Programs, libraries and what they need of /etc, read-only; other folders are empty.

    `HIDDEN` stays writable for the mounts to come.
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
    """Programs in other places, read-only: the folders of PATH, and whole Pythons."""
    named = [folder for folder in machine.folders if os.path.basename(folder) != _SHIMS]
    modules = [os.path.join(os.path.dirname(folder), "lib", "node_modules") for folder in named]
    wanted = [*named, *modules, *python_prefixes(machine.prefix, roots)]
    shown = [path for path in dict.fromkeys(wanted) if _can_mount(path, machine, roots)]
    return [part for path in sorted(shown) for part in ("--ro-bind-try", path, path)]


def python_prefixes(prefix: str, roots: Iterable[str]) -> Iterator[str]:
    """The prefixes of the Pythons that run us and the virtual environments of the roots."""
    yield os.path.realpath(prefix)
    for root in roots:
        for name in (".venv", "venv"):
            program = os.path.realpath(os.path.join(root, name, "bin", "python"))
            found = os.path.dirname(os.path.dirname(program))
            # The link is in the project, and could point anywhere.
            if any(map(os.path.isfile, glob(f"{escape(found)}/lib/python3.*/os.py"))):
                yield found


def _can_mount(path: str, machine: HostLayout, roots: Sequence[str]) -> bool:
    """Whether a folder of programs exists, is not mounted already, and contains neither a home nor a root."""
    real = os.path.realpath(path)
    if not os.path.isdir(real) or any(is_within(real, os.path.realpath(path)) for path in (*SYSTEM, *roots)):
        return False
    return not any(is_within(os.path.realpath(path), real) for path in (machine.home, machine.state, *roots))


def is_within(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or below it; both are absolute and resolved."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")
