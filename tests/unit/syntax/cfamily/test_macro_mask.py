"""What misleads the parser is blanked, and nothing moves."""

from hypothesis import given
from hypothesis import strategies as st

from marid.syntax.cfamily.macro_mask import without_attributes, without_exports, without_split_branches

SPLIT = b"""\
#ifdef A
int f(int a) {
#elif B
int f(long a) {
#else
int f(char a) {
#endif
    return a;
}
"""


def test_what_only_looks_like_such_a_macro_stays() -> None:
    for source in (b"struct POINT make(int x) {", b"class SHOP {", b"struct POINT p = {1};", b"class Api Shop {"):
        assert without_exports(source) == source


def test_whole_definitions_in_branches_stay_as_they_are() -> None:
    source = b"#if A\nint f() { return 1; } // {\n#else\nint f() { char *s = \"{\"; char c = '{'; } /* { */\n#endif\n"
    assert without_split_branches(source) == (source, ())


def test_a_split_inside_a_whole_conditional_does_not_split_that() -> None:
    source = b"#ifndef H\n#define H\n" + SPLIT + b"#else\nint other;\n#endif\n"
    seen, split = without_split_branches(source)
    assert b"int other;" in seen
    assert len(split) == 1


def test_directives_without_a_partner_are_left_alone() -> None:
    source = b"#endif\nint f() {\n#if A\n}\n"
    assert without_split_branches(source) == (source, ())


@given(
    st.lists(
        st.sampled_from([b"#if A\n", b"#else\n", b"#endif\n", b"int f() {\n", b"}\n", b"x;\r\n", b"class ABC D {"])
    )
)
def test_bytes_and_lines_keep_their_places(lines: list[bytes]) -> None:
    source = b"".join(lines)
    seen, _ = without_split_branches(without_attributes(without_exports(source)))
    assert len(seen) == len(source)
    assert [at for at, byte in enumerate(seen) if byte == 10] == [at for at, byte in enumerate(source) if byte == 10]
