from marid.core.context import ContextRequest, Form, Level, Report, View


def test_a_request_asks_for_all_files_in_full_as_masked_text() -> None:
    request = ContextRequest(cwd="/p")
    assert request.wanted.targets == (".",)
    assert (request.wanted.gitignore, request.wanted.defaults, request.shown.mask) == (True, True, True)
    assert (request.shown.form, request.shown.views, request.shown.budget) == (Form.TEXT, (View.CONTENT,), None)


def test_levels_are_known_by_the_words_of_the_command_line() -> None:
    assert [Level(word) for word in ("full", "outline", "name")] == list(Level)


def test_a_report_of_nothing_is_exact() -> None:
    assert (Report().files, Report().tokens, Report().exact) == (0, None, True)
