"""The folders that a client may read from. Whatever leads elsewhere is refused, by links too."""

import os
import stat
from collections.abc import Iterable
from typing import NamedTuple

from marid.core.errors import BadInput, NotFound, Refused
from marid.text.display import quote_path

HINT = "to allow another folder, start the server with --root DIR (repeatable)"


class AllowedRoots(NamedTuple):
    """Folders with every link in their own paths followed.

    Messages name what the caller gave and nothing else, and what lies outside is refused before anybody looks
    whether it exists: a client learns nothing about the rest of the disk.
    """

    folders: tuple[str, ...]

    def resolve_folder(self, path: str) -> str:
        """The real place of the absolute `path`.

        Raises: BadInput for a relative path or a file, Refused for a folder outside or without permission, NotFound.
        """
        if not os.path.isabs(path):
            raise BadInput(
                f"'{quote_path(path)}' is not an absolute path: give the whole path of a folder, from '/' on"
            )
        place = _real_path(path)
        if not any(_is_within(root, place) for root in self.folders):
            raise Refused(f"'{quote_path(path)}' is outside the folders that this server may read; {HINT}")
        if not _is_folder(place, path):
            raise BadInput(f"'{quote_path(path)}' is a file: give its folder as 'path' and the file in 'targets'")
        _check_readable(place, path)
        return place


def resolve_roots(given: Iterable[str], cwd: str) -> AllowedRoots:
    """The roots that a person names.

    Raises: NotFound, BadInput, Refused for one that is no folder or may not be read.
    """
    places: list[str] = []
    for path in given:
        place = _real_path(os.path.join(cwd, path))
        if not _is_folder(place, path):
            raise BadInput(f"'{quote_path(path)}' is a file: --root takes a folder")
        _check_readable(place, path)
        places.append(place)
    return AllowedRoots(tuple(dict.fromkeys(places)))


def resolve_target(folder: str, target: str) -> str:
    """The real place of a file or folder below the real `folder`.

    Raises: Refused when it leads out of `folder`, NotFound, BadInput for what is neither.
    """
    place = _real_path(os.path.join(folder, target))
    if not _is_within(folder, place):
        raise Refused(f"the target '{quote_path(target)}' leads out of 'path': targets are files and folders below it")
    if _is_folder(place, target):
        _check_readable(place, target)
    return place


def _real_path(path: str) -> str:
    if "\0" in path:
        raise BadInput("a path cannot hold a NUL byte")
    try:
        return os.path.realpath(path)
    except OSError as error:  # a folder and a link are being exchanged
        raise NotFound(f"'{quote_path(path)}' is not there") from error


def _is_within(root: str, place: str) -> bool:
    return place == root or place.startswith(root.rstrip("/") + "/")


def _is_folder(place: str, given: str) -> bool:
    """Whether it is a folder and not a file."""
    try:
        mode = os.stat(place).st_mode
    except PermissionError as error:
        raise _permission_error(given) from error
    except OSError as error:
        raise NotFound(f"'{quote_path(given)}' is not there") from error
    if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
        raise BadInput(f"'{quote_path(given)}' is neither a file nor a folder")
    return stat.S_ISDIR(mode)


def _check_readable(place: str, given: str) -> None:
    try:
        os.scandir(place).close()
    except OSError as error:
        raise _permission_error(given) from error


def _permission_error(given: str) -> Refused:
    return Refused(f"'{quote_path(given)}' cannot be read: no permission")
