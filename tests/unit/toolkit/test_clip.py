import json

from hypothesis import given
from hypothesis import strategies as st

from marid.toolkit.outcome import MAX_OUTPUT_BYTES, ToolOutput, clip_output


def _size(done: ToolOutput) -> int:
    whole = json.dumps({"text": done.text, "values": dict(done.values)}, ensure_ascii=False)
    return len(whole.encode("utf-8", "surrogatepass"))


def test_a_long_text_is_cut_and_says_so() -> None:
    cut = clip_output(ToolOutput(text="y\n" * 5_000_000, values={"exit_code": 0}))
    assert _size(cut) <= MAX_OUTPUT_BYTES
    assert len(cut.text) > 2_000_000
    assert cut.text.endswith("of 10,000,000 characters are left out; ask for less]")
    assert cut.values == {"exit_code": 0, "truncated": True}


def test_values_that_are_too_many_are_left_out() -> None:
    done = ToolOutput(text="some", values={"rows": ["x" * 100] * 1000})
    assert clip_output(done, 20_000) == ToolOutput(text="some", values={"values_left_out": True})


def test_one_value_that_is_too_much_is_left_out_although_there_is_one_in_its_place() -> None:
    assert clip_output(ToolOutput(text="some", values={"row": "x" * 50_000}), 20_000).values == {
        "values_left_out": True
    }


@given(st.text(st.characters(), min_size=1).map(lambda text: text * 500), st.integers(4_000, 30_000))
def test_whatever_it_holds_a_result_fits(text: str, most: int) -> None:
    cut = clip_output(ToolOutput(text=text, values={"n": 1}), most)
    assert _size(cut) <= most
    if cut.text != text:
        assert text.startswith(cut.text.rpartition("\n[cut: ")[0])


def test_where_there_is_no_room_at_all_only_the_note_is_left() -> None:
    assert clip_output(ToolOutput(text="hello"), 10).text == "\n[cut: 5 of 5 characters are left out; ask for less]"
