from marid.faces.cli.view.rendering import MarkdownLook, make_renderer, render_markdown


def test_a_whole_text_is_what_would_have_come_piece_by_piece() -> None:
    pieces: list[str] = []
    made = make_renderer(pieces.append, lambda: 40, MarkdownLook({}, colour=False))
    for char in "# Title\n\n**bold** words":
        made.feed(char)
    made.end()
    whole = render_markdown("# Title\n\n**bold** words", 40, MarkdownLook({}, colour=False))
    assert "".join(pieces).rstrip("\n") + "\n" == whole
    assert "**" not in whole


def test_half_a_character_is_shown_as_its_escape() -> None:
    assert render_markdown("a\udcff", 40, MarkdownLook({}, colour=False)).strip() == r"a\udcff"
