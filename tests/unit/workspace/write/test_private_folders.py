import os
from pathlib import Path

import pytest

from marid.workspace.write.private_folders import make_private_folder


def test_all_that_is_made_is_private(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        make_private_folder(str(tmp_path / "home/logs/sessions"))
    finally:
        os.umask(before)
    modes = [(tmp_path / name).stat().st_mode & 0o777 for name in ("home", "home/logs", "home/logs/sessions")]
    assert modes == [0o700] * 3


def test_what_is_there_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir(mode=0o755)
    make_private_folder(str(tmp_path / "home"))
    assert (tmp_path / "home").stat().st_mode & 0o777 == 0o755


def test_a_file_in_the_way_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "home").touch()
    for name in ("home", "home/below"):
        with pytest.raises(FileExistsError):
            make_private_folder(str(tmp_path / name))
