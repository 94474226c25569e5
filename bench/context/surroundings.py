"""The surroundings of a run: environment, scratch folder, machine."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping

_ROOM = 400_000_000  # the largest output and the caches
_RAM = "/dev/shm"
_OURS = ("MARID_", "CHIBI_", "JINNI_")


def environment(inherited: Mapping[str, str], scratch: str) -> dict[str, str]:
    """The same for all programs: without our settings and the user's git configuration, which may exclude files."""
    kept = {name: value for name, value in inherited.items() if not name.startswith(_OURS)}
    return {
        **kept,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "XDG_CONFIG_HOME": os.path.join(scratch, "config"),
    }


def memory_folder() -> str | None:
    """A folder in memory, if there is one with enough room."""
    if os.path.isdir(_RAM) and os.access(_RAM, os.W_OK) and shutil.disk_usage(_RAM).free > _ROOM:
        return _RAM
    return None


def machine() -> str:
    """What the figures depend on most, in one line."""
    git = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout.split()[2]
    python = ".".join(str(part) for part in sys.version_info[:3])
    system = os.uname()
    return f"{os.cpu_count()} cores, {system.sysname} {system.machine}, Python {python}, git {git}"
