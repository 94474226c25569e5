import json

from fakes.program import Program
from fakes.trees import plant
from marid.workspace.quarantine import Quarantine


def create(marid: Program) -> str:
    """A .git that was moved away; its ID."""
    quarantine = Quarantine(str(marid.folder.parent / "home"))
    with quarantine.watch([(str(marid.folder), (".git",))]):
        plant(marid.folder, {".git/config": "x"})
    return quarantine.items()[-1].id


def test_nothing_is_there(marid: Program) -> None:
    done = marid("quarantine")
    assert (done.code, done.text, done.err) == (0, "", "marid: nothing is in quarantine\n")
    assert marid("quarantine", "--json").text == "[]\n"


def test_what_is_there_is_listed(marid: Program) -> None:
    id = create(marid)
    assert marid("quarantine").text.split()[::3] == [id, f"{marid.folder}/.git"]
    (row,) = json.loads(marid("quarantine", "--json").text)
    assert (row["id"], row["path"]) == (id, f"{marid.folder}/.git")


def test_it_is_moved_back(marid: Program) -> None:
    done = marid("quarantine", "restore", create(marid)[:5])
    assert (done.code, done.err) == (0, f"marid: restored: {marid.folder}/.git\n")
    assert (marid.folder / ".git" / "config").read_text() == "x"


def test_it_is_deleted(marid: Program) -> None:
    done = marid("quarantine", "delete", create(marid))
    assert (done.code, done.err) == (0, f"marid: deleted: {marid.folder}/.git\n")
    assert marid("quarantine", "--json").text == "[]\n"


def test_an_id_is_needed_and_must_be_one_of_the_list(marid: Program) -> None:
    assert marid("quarantine", "restore").code == 2
    assert marid("quarantine", "restore", "zzz").code == 4
    assert marid("quarantine", "free", "zzz").code == 2
    id = create(marid)
    (marid.folder / ".git").touch()
    assert marid("quarantine", "restore", id).code == 3
