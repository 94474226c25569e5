import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from marid.bootstrap.settings.toml_lines import key_lines

TEXT = '''# first
a = 1
"b c" = [
  1, # ] not the end
  "]",
]

[t]   # a table
x = """
y = 2
"""
z.deep = {in = 1}
'q' = \'\'\'
k = 3
\'\'\'

[t."s.u"]
m = 1
[[list]]
n = "\\"#"
[[list]]
n = 2
'''


def test_every_key_has_its_line() -> None:
    assert key_lines(TEXT) == {
        ("a",): 2,
        ("b c",): 3,
        ("t",): 8,
        ("t", "x"): 9,
        ("t", "z"): 12,
        ("t", "z", "deep"): 12,
        ("t", "q"): 13,
        ("t", "s.u"): 17,
        ("t", "s.u", "m"): 18,
        ("list",): 19,
        ("list", "n"): 20,
        (): 2,
    }


def test_a_text_without_keys_has_none() -> None:
    assert key_lines("") == {}
    assert key_lines("# only words\n\n") == {}


def test_an_unfinished_text_ends() -> None:
    assert key_lines("a = [1,\n2") == {(): 1, ("a",): 1}


KEYS = st.text("abcd_-", min_size=1, max_size=3)
VALUES = st.sampled_from(["1", '"x # y"', "'[['", '"""\nno = 1\n"""', "[\n1,\n2]", "{u = 1}", "true # yes", "''''''"])


@given(st.dictionaries(KEYS, VALUES), st.dictionaries(KEYS, st.dictionaries(KEYS, VALUES)))
def test_every_key_that_the_parser_finds_is_found_on_its_line(top: dict[str, str], tables: dict[str, Any]) -> None:
    rows = [*((key, value) for key, value in top.items())]
    text = "".join(f"{key} = {value}\n" for key, value in rows)
    for name, table in tables.items():
        text += f"\n[T.{name}]\n" + "".join(f"{key} = {value}\n" for key, value in table.items())
    lines, split = key_lines(text), text.split("\n")
    parsed = tomllib.loads(text)
    for key in parsed.keys() - {"T"}:
        assert split[lines[(key,)] - 1].startswith(f"{key} =")
    for name, table in parsed.get("T", {}).items():
        assert split[lines["T", name] - 1] == f"[T.{name}]"
        for key in table:
            assert split[lines["T", name, key] - 1].startswith(f"{key} =")
