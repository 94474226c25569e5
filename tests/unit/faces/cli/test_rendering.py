from marid.faces.cli.rendering import Look, rendered, renderer


def test_a_whole_text_is_what_would_have_come_piece_by_piece() -> None:
    pieces: list[str] = []
    made = renderer(pieces.append, lambda: 40, Look({}, colour=False))
    for char in "# Title\n\n**bold** words":
        made.feed(char)
    made.end()
    whole = rendered("# Title\n\n**bold** words", 40, Look({}, colour=False))
    assert "".join(pieces).rstrip("\n") + "\n" == whole
    assert "**" not in whole


def test_half_a_character_is_shown_as_its_escape() -> None:
    assert rendered("a\udcff", 40, Look({}, colour=False)).strip() == r"a\udcff"
