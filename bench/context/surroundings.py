"""What a run finds around it: environment, scratch folder, machine."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping

_ROOM = 400_000_000  # the largest output and the caches
_RAM = "/dev/shm"
_OURS = ("MARID_", "CHIBI_", "JINNI_")


def environment(inherited: Mapping[str, str], scratch: str) -> dict[str, str]:
    """The same for everybody: no settings of ours and none of the user's git, which name files to exclude."""
    kept = {name: value for name, value in inherited.items() if not name.startswith(_OURS)}
    return {
        **kept,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "XDG_CONFIG_HOME": os.path.join(scratch, "config"),
    }


def memory_folder() -> str | None:
    """Where files cost no disk, if there is such a place and it has room."""
    if os.path.isdir(_RAM) and os.access(_RAM, os.W_OK) and shutil.disk_usage(_RAM).free > _ROOM:
        return _RAM
    return None


def machine() -> str:
    """What the figures depend on most."""
    git = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout.split()[2]
    python = ".".join(str(part) for part in sys.version_info[:3])
    system = os.uname()
    return f"{os.cpu_count()} cores, {system.sysname} {system.machine}, Python {python}, git {git}"
