import pytest

from marid.syntax.python.resolve.mentions import MentionIndex

FILES = {
    "head.py": b"class A(x.Base): ...\n",
    "long.py": b"class A(\r\n    One,\r\n    Base,\r\n): ...\r\n",
    "imported.py": b"from a import (\n  b,\n  Base as B,\n)\n",
    "plain.py": b"  from a import b, Base\n",
    "broken_line.py": b"from a import b, \\\n  Base\n",
    "module.py": b"import Base.x\n",
    "other_name.py": b"import a\nB = a.Base\r\n",
    "used.py": b"import a\na.Base()\n# class Base\n",
    "part.py": b"class BaseX: ...\n",
    "nothing.py": b"Base = 1\n",
    "umlaut.py": "class Bäse: ...\n".encode(),
}


@pytest.mark.parametrize("more", [set[str](), {f"x{n}" for n in range(10)}], ids=["few", "many"])
def test_files_are_told_that_name_a_class_where_it_counts(more: set[str]) -> None:
    assert MentionIndex(FILES).take_matching({"Base", *more}) == [
        "head.py",
        "long.py",
        "imported.py",
        "plain.py",
        "broken_line.py",
        "module.py",
        "other_name.py",
    ]


def test_a_file_is_told_once() -> None:
    mentions = MentionIndex(FILES)
    assert mentions.take_matching({"One"}) == ["long.py"]
    assert "long.py" not in mentions.take_matching({"Base"})
    assert mentions.take_matching({"Bäse"}) == ["umlaut.py"]
