"""`marid allow`: a person widens what tools may touch, beforehand."""

from fakes.program import Program


def test_an_allowed_file_grants_itself_and_not_its_folder(marid: Program) -> None:
    outside = marid.folder.parent / "elsewhere"
    outside.mkdir()
    (outside / "a.txt").write_text("alpha\n")
    (outside / "b.txt").write_text("beta\n")
    assert marid("tool", "read_file", "--path", str(outside / "a.txt")).code == 3
    assert marid("allow", str(outside / "a.txt")).err == f"marid: allowed: {outside}/a.txt\n"
    assert marid("tool", "read_file", "--path", str(outside / "a.txt")).text == "alpha\n"
    assert marid("tool", "read_file", "--path", str(outside / "b.txt")).code == 3


def test_an_allowed_folder_is_one_more_root_and_the_project_stays_the_first(marid: Program) -> None:
    outside = marid.folder.parent / "elsewhere"
    outside.mkdir()
    (outside / "a.txt").write_text("alpha\n")
    marid.write({"mine.txt": "mine\n"})
    assert marid("allow", "../elsewhere").code == 0
    assert marid("tool", "read_file", "--path", str(outside / "a.txt")).text == "alpha\n"
    assert marid("tool", "read_file", "--path", "mine.txt").text == "mine\n"


def test_the_list_is_shown_and_can_be_shortened(marid: Program) -> None:
    outside = marid.folder.parent / "elsewhere"
    outside.mkdir()
    marid("allow", str(outside))
    assert marid("allow").text == f"{outside}\n"
    assert marid("allow", "--remove", "../elsewhere").code == 0
    nothing = marid("allow")
    assert (nothing.text, nothing.code) == ("", 0)
    assert "nothing outside of the project is allowed" in nothing.err
    done = marid("allow", "--remove", str(outside))
    assert done.code == 4
    assert "not among the allowed" in done.err


def test_what_is_not_there_the_whole_disk_and_our_home_are_refused(marid: Program) -> None:
    (marid.folder.parent / "home").mkdir()
    assert marid("allow", "nowhere").code == 4
    assert marid("allow", "/").code == 2
    assert marid("allow", "../home").code == 3
