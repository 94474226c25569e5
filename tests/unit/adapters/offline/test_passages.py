"""Words to search for, and the passages that hold them."""

from hypothesis import given
from hypothesis import strategies as st

from marid.adapters.offline import (
    DEFINITIONS,
    MAX_PASSAGES,
    MAX_WORDS,
    Passage,
    best_passages,
    definition_words,
    search_words,
    stem,
    word_pattern,
)


def test_names_of_code_come_first_and_empty_words_never() -> None:
    assert search_words("where does the parser use read_file and TokenKind?") == ("read_file", "TokenKind", "parser")
    assert search_words("What is this?") == ()
    assert search_words("explain 12345 it") == ()


def test_a_word_counts_once_however_it_is_written() -> None:
    assert search_words("Parser parser PARSER") == ("Parser",)


def test_words_of_any_language_count() -> None:
    assert "größe" in search_words("wo steht die größe")


def test_there_are_never_many_words() -> None:
    assert len(search_words(" ".join(f"word_{number}" for number in range(1000)))) == MAX_WORDS


def test_a_passage_is_the_lines_around_a_hit() -> None:
    found = {"parser": "src/a.py:3-import re\nsrc/a.py:4: parser = 1\nsrc/a.py:5-x = 2\n--\nb.py:9: the parser"}
    assert best_passages(found) == (
        Passage("b.py", 9, ("the parser",)),
        Passage("src/a.py", 3, ("import re", "parser = 1", "x = 2")),
    )
    assert [passage.location for passage in best_passages(found)] == ["b.py:9", "src/a.py:3-5"]


def test_a_passage_with_more_of_the_words_is_better_and_rare_words_count_more() -> None:
    found = {
        "common": "\n".join(f"many.py:{line}: common" for line in range(1, 40, 2)) + "\nboth.py:1: common rare",
        "rare": "both.py:1: common rare\nonly.py:5: rare",
    }
    assert [passage.path for passage in best_passages(found)][:3] == ["both.py", "only.py", "many.py"]


def test_a_word_in_the_path_counts_too() -> None:
    found = {"parser": "a/other.py:1: parser\nz/parser.py:1: parser"}
    assert best_passages(found)[0].path == "z/parser.py"


def test_a_long_passage_is_cut_around_its_best_line() -> None:
    lines = [f"a.py:{line}{': ' if line in (1, 30) else '-'}line {line}" for line in range(1, 60)]
    found = {"one": "\n".join(lines), "two": "a.py:30: line 30"}
    (passage,) = best_passages(found)
    assert passage.first_line == 28
    assert len(passage.lines) == 12


def test_what_is_no_result_is_left_out() -> None:
    assert best_passages({"x": "No matches", "y": "(more than 60 matching lines: narrow the pattern)"}) == ()
    assert best_passages({}) == ()


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=200), max_size=3))
def test_no_text_breaks_it(found: dict[str, str]) -> None:
    assert len(best_passages(found)) <= MAX_PASSAGES


def test_plain_words_are_found_in_their_other_forms_and_names_as_they_are() -> None:
    assert [stem(word) for word in ("tests", "class", "Tests", "read_files", "bus")] == [
        "test",
        "class",
        "Tests",
        "read_files",
        "bus",
    ]
    assert word_pattern("tests") == "(?i)test"
    assert word_pattern("run") == r"(?i)\brun\b"


def test_the_definition_of_a_name_is_wanted_and_of_a_plain_word_only_when_asked_for() -> None:
    assert definition_words("explain Kettle and read_file, please", ("Kettle", "read_file", "please")) == (
        "Kettle",
        "read_file",
    )
    assert definition_words("Kettle?", ("Kettle",)) == ()
    assert definition_words("where is boil defined", ("boil",)) == ("boil",)


def test_a_definition_is_better_than_any_use_and_the_exact_name_better_still() -> None:
    found = {
        "Kettle": "a.py:1: kettle Kettle\nb.py:1: class kettle:\nc.py:1: class Kettle:",
        DEFINITIONS: "b.py:1: class kettle:\nc.py:1: class Kettle:",
    }
    assert [passage.path for passage in best_passages(found)] == ["c.py", "b.py", "a.py"]
