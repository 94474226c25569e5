from marid.core.context import ContextReport, ContextRequest, ContextView, Level, OutputFormat


def test_a_request_asks_for_all_files_in_full_as_masked_text() -> None:
    request = ContextRequest(cwd="/p")
    assert request.selection.targets == (".",)
    assert (request.selection.gitignore, request.selection.defaults, request.render.mask) == (True, True, True)
    assert (request.render.form, request.render.views, request.render.budget) == (
        OutputFormat.TEXT,
        (ContextView.CONTENT,),
        None,
    )


def test_levels_are_known_by_the_words_of_the_command_line() -> None:
    assert [Level(word) for word in ("full", "outline", "name")] == list(Level)


def test_a_report_of_nothing_is_exact() -> None:
    assert (ContextReport().files, ContextReport().tokens, ContextReport().exact) == (0, None, True)
