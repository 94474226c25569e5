"""A person's own file is changed as a careful person would."""

import os
import resource
import stat
import threading
from functools import partial
from pathlib import Path

import pytest
from tomlkit import TOMLDocument

from marid.app.config_file import edit_toml_file
from marid.core.errors import BadInput, Unavailable


def put_fuel(document: TOMLDocument) -> None:
    document["fuel"] = 3


def test_comments_order_and_unknown_keys_stay(tmp_path: Path) -> None:
    file = tmp_path / "local.toml"
    file.write_text("# mine\nother = 1   # kept\nfuel = 9 # how far\n\n[table]\nx = 1\n")
    edit_toml_file(str(file), put_fuel)
    assert file.read_text() == "# mine\nother = 1   # kept\nfuel = 3 # how far\n\n[table]\nx = 1\n"


def test_what_is_made_is_for_its_owner_alone_and_what_is_there_keeps_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "home" / "contexts" / "x" / "local.toml"
    edit_toml_file(str(file), put_fuel)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    file.chmod(0o640)
    edit_toml_file(str(file), put_fuel)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert os.listdir(file.parent) == ["local.toml"]


def test_a_file_behind_a_link_is_changed_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "real.toml").write_text("")
    (tmp_path / "local.toml").symlink_to("real.toml")
    edit_toml_file(str(tmp_path / "local.toml"), put_fuel)
    assert (tmp_path / "local.toml").is_symlink()
    assert (tmp_path / "real.toml").read_text() == "fuel = 3\n"


@pytest.mark.parametrize("text", ["fuel = \n", "\udcff"])
def test_a_file_that_is_no_toml_is_left_as_it_is(tmp_path: Path, text: str) -> None:
    file = tmp_path / "local.toml"
    data = text.encode("utf-8", "surrogateescape")
    file.write_bytes(data)
    with pytest.raises(BadInput, match=r"local\.toml cannot be changed"):
        edit_toml_file(str(file), put_fuel)
    assert file.read_bytes() == data


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Unavailable, match=r"local\.toml cannot be written"):
        edit_toml_file(str(tmp_path / "file" / "local.toml"), put_fuel)


def test_a_write_that_fails_leaves_no_empty_file_and_what_was_there_as_it_was(tmp_path: Path) -> None:
    old = tmp_path / "old.toml"
    old.write_text("fuel = 9\n")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        for name in ("new.toml", "old.toml"):
            with pytest.raises(Unavailable, match=f"{name} cannot be written: File too large"):
                edit_toml_file(str(tmp_path / name), put_fuel)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert os.listdir(tmp_path) == ["old.toml"]
    assert old.read_text() == "fuel = 9\n"


def test_a_file_that_no_reader_of_settings_takes_is_not_changed_either(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "large.toml").write_bytes(b"#" * 300_000)
    for name in ("pipe.toml", "large.toml"):
        with pytest.raises(BadInput, match=rf"{name} cannot be changed: "):
            edit_toml_file(str(tmp_path / name), put_fuel)


def test_line_ends_of_other_systems_stay(tmp_path: Path) -> None:
    (tmp_path / "local.toml").write_bytes(b"# mine\r\nfuel = 9\r\n")
    edit_toml_file(str(tmp_path / "local.toml"), put_fuel)
    assert (tmp_path / "local.toml").read_bytes() == b"# mine\r\nfuel = 3\r\n"


def test_who_changes_a_file_at_the_same_time_loses_nothing(tmp_path: Path) -> None:
    """The defect: two who had read the same file wrote one after the other, and both said that it was done."""

    def put(name: str) -> None:
        for number in range(10):
            edit_toml_file(str(tmp_path / "local.toml"), partial(put_one, name=f"{name}{number}"))

    def put_one(document: TOMLDocument, name: str) -> None:
        document[name] = 1

    threads = [threading.Thread(target=put, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tmp_path / "local.toml").read_text().count("\n") == 30
