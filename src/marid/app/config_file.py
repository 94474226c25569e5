"""Edit the user's TOML files; comments and unknown keys stay."""

import contextlib
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from marid.core.errors import Unavailable
from marid.core.settings.values import MAX_SETTINGS_BYTES, BadSettingsFile
from marid.text.display import quote_path
from marid.workspace.plain_files import lock_folder, make_private_folder, read_small_text, replace_file

if TYPE_CHECKING:
    from tomlkit import TOMLDocument


def edit_toml_file(path: str, change: "Callable[[TOMLDocument], None]") -> None:
    """Change a file atomically. A new file or folder is only for its owner.

    Raises: BadSettingsFile if it is not valid TOML; Unavailable if it cannot be written.
    """
    import tomlkit  # imported when used
    from tomlkit.exceptions import TOMLKitError

    name = os.path.basename(path)
    folder = os.path.dirname(path)
    try:
        make_private_folder(folder)
        with lock_folder(folder):
            document = tomlkit.parse(_text(path))
            change(document)
            _replace(path, tomlkit.dumps(document).encode())
    except OSError as error:
        raise Unavailable(f"{name} cannot be written: {error.strerror or error}") from error
    except (TOMLKitError, ValueError) as error:
        raise BadSettingsFile(f"{quote_path(path)} cannot be changed: {error}") from error


def _text(path: str) -> str:
    try:
        return read_small_text(path, MAX_SETTINGS_BYTES)
    except FileNotFoundError:
        return ""


def _replace(path: str, data: bytes) -> None:
    """An existing file keeps its mode; a new one is private, since it may come to hold keys."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        replace_file(path, [[data]])
        return
    try:
        replace_file(path, [[data]])
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(path)
        raise
