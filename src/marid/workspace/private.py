"""Folders that nobody but their owner looks into."""

import os


def private_folder(path: str) -> None:
    """Have a folder; what has to be made for it is private too, which `os.makedirs` leaves open. Raises: OSError."""
    if os.path.isdir(path):
        return
    above = os.path.dirname(os.path.abspath(path))
    private_folder(above)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not os.path.isdir(path):  # else another was faster
            raise
