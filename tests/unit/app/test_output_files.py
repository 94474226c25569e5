"""What a person asked to have in a file."""

import os
import stat
import threading
from pathlib import Path

import pytest

from fakes.files import as_nobody
from fakes.trees import plant, scratch
from marid.app.output_files import save_bytes
from marid.core.errors import BadInput, NotFound, Refused, Unavailable


def test_an_output_keeps_its_mode_and_its_links(tmp_path: Path) -> None:
    plant(tmp_path, {"real": "old"})
    (tmp_path / "real").chmod(0o600)
    (tmp_path / "link").symlink_to("real")
    save_bytes([[b"new"]], str(tmp_path / "link"))
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o600


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    save_bytes([[b"a", b"b"]], str(pipe))
    reader.join(timeout=20)
    assert got == [b"ab"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_device_is_written_to_and_not_replaced() -> None:
    save_bytes([[b"a"]], os.devnull)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_a_full_device_is_told() -> None:
    with pytest.raises(Unavailable, match="'/dev/full' cannot be written: No space left"):
        save_bytes([[b"a"]], "/dev/full")


def test_a_pipe_whose_reader_has_gone_is_told_as_such(tmp_path: Path) -> None:
    def batches() -> object:
        raise BrokenPipeError
        yield

    with pytest.raises(BrokenPipeError):
        save_bytes(batches(), str(tmp_path / "out"))  # pyright: ignore[reportArgumentType]


def test_a_place_that_cannot_be_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is a folder: name a file to write"):
        save_bytes([], str(tmp_path))
    with pytest.raises(NotFound, match=r"the folder '.*gone' does not exist"):
        save_bytes([], str(tmp_path / "gone" / "out"))
    with pytest.raises(Unavailable, match="cannot be written: File name too long"):
        save_bytes([], str(tmp_path / ("x" * 300)))


def test_a_place_that_is_not_ours_is_refused() -> None:
    with scratch() as top:
        os.chmod(top, 0o755)
        with as_nobody(), pytest.raises(Refused, match="permission denied"):
            save_bytes([[b"x"]], f"{top}/out")


def test_what_stands_behind_stdout_is_written_to_and_not_replaced(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    os.write(1, b"before ")
    save_bytes([[b"a"]], "/dev/stdout")
    os.write(1, b" after")
    assert capfdbinary.readouterr().out == b"before a after"


def test_a_name_that_ends_like_a_folder_is_one(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is a folder"):
        save_bytes([[b"a"]], f"{tmp_path}/new/")
