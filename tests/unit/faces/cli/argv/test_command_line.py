import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.core.errors import BadInput
from marid.faces.cli.argv.command_line import (
    CommandLine,
    flag_spellings,
    parse_assignment,
    parse_command_line,
    parse_debug_keys,
    settings_from,
    unknown_key_warnings,
)
from marid.faces.cli.argv.completion import CompletionPoint, completion_point
from marid.faces.cli.line_runner import check_line
from marid.faces.flags import FLAGS

COMMANDS = ("say", "log", "context")


def read(*args: str) -> CommandLine:
    return parse_command_line(list(args), COMMANDS)


def test_words_are_a_prompt() -> None:
    assert read("what", "is", "this").words == ("what", "is", "this")
    assert read("help").words == ("help",)


def test_a_first_word_that_is_a_command_is_the_command_and_the_rest_is_its_own() -> None:
    line = read("-v", "log", "-n", "3", "--all")
    assert (line.command, line.rest, line.has("verbose")) == ("log", ("-n", "3", "--all"), True)
    assert read("show", "log").words == ("show", "log")


def test_where_everything_is_may_be_said_after_a_command_too() -> None:
    line = read("log", "a", "--home", "/h", "-n", "3", "--project-root=/p", "--", "--home", "x")
    assert (line.command, line.rest) == ("log", ("a", "-n", "3", "--", "--home", "x"))
    assert (line.value("home"), line.value("project_root")) == ("/h", "/p")
    own = parse_command_line(["json", "--home", "/h"], ("json",))
    assert (own.rest, own.has("home")) == (("--home", "/h"), False)
    with pytest.raises(BadInput, match="--home needs DIR"):
        read("log", "--home")


def test_two_dashes_force_a_prompt() -> None:
    line = read("-v", "--", "log", "-v")
    assert (line.command, line.words, line.has_separator) == ("", ("log", "-v"), True)
    assert read("--") == CommandLine({}, has_separator=True)


def test_flags_may_stand_between_the_words() -> None:
    line = read("explain", "-c", "work", "this")
    assert (line.words, line.value("switch")) == (("explain", "this"), "work")


@pytest.mark.parametrize(
    ("args", "name", "values"),
    [
        (["-Dold"], "destroy_of", ("old",)),
        (["-c-"], "switch", ("-",)),
        (["-c", "-"], "switch", ("-",)),
        (["-cnaïve→"], "switch", ("naïve→",)),
        (["--home=/a=b"], "home", ("/a=b",)),
        (["--home", "/a"], "home", ("/a",)),
        (["-g-3"], "log", ("-3",)),
        (["-g", "-3"], "log", ("-3",)),
        (["-Gold", "3"], "log_of", ("old", "3")),
        (["--show-log=old", "3"], "log_of", ("old", "3")),
        (["-y", "- be brief"], "set_prompt", ("- be brief",)),
        (["-P", "get_tree", '{"path": "-v"}'], "tool", ("get_tree", '{"path": "-v"}')),
        (["-vtc", "work"], "switch", ("work",)),
        (["--json"], "as_json", ()),
    ],
)
def test_values_are_taken_attached_or_after(args: list[str], name: str, values: tuple[str, ...]) -> None:
    assert read(*args).values(name) == values


def test_letters_may_stand_together() -> None:
    line = read("-vtcwork", "hi")
    assert sorted(line.given) == ["switch", "trust", "verbose"]
    assert line.words == ("hi",)


def test_a_flag_may_come_several_times() -> None:
    line = read("-s", "a=1", "-sb=2", "--set=c=3")
    assert line.all_values("sets") == ("a=1", "b=2", "c=3")
    assert line.value("sets") == "c=3"
    assert line.all_values("allow") == ()
    assert line.value("home") == ""


@pytest.mark.parametrize("word", ["-", "-5", "-3.5", "- a\n- b", "---", "--why does it fail", "->"])
def test_what_only_begins_with_a_dash_is_a_word(word: str) -> None:
    assert read("what", "is", word).words[-1] == word


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--verison"], "unknown flag --verison; did you mean '--version'?"),
        (["-vq"], "unknown flag -q (in -vq)"),
        (["--zzzz"], "`marid --help-all` lists"),
        (["--nope"], "unknown flag --nope; `marid --help-all` lists"),
        (["--trst"], "unknown flag --trst; `marid --help-all` lists"),
        (["--alow", "write"], "unknown flag --alow; `marid --help-all` lists"),
        (["contxt", "--tree"], "unknown command 'contxt'; did you mean 'marid context'?"),
        (["--json=1"], "--json takes no value"),
        (["-c"], "-c needs NAME"),
        (["-c", "-v"], "-c needs NAME"),
        (["-G", "old"], "-G needs NAME N"),
        (["hello", "-q"], "Put `--` before words"),
    ],
)
def test_what_is_wrong_is_told(args: list[str], said: str) -> None:
    with pytest.raises(BadInput) as caught:
        read(*args)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("args", "values", "words"),
    [
        (["--debug", "context"], ("context",), ()),
        (["--debug", "request-log", "hi"], ("request-log",), ("hi",)),
        (["--debug=all", "hi"], ("all",), ("hi",)),
        (["--debug", "bogus", "hi"], ("bogus",), ("hi",)),
        (["--debug=", "hi"], ("",), ("hi",)),
    ],
)
def test_the_word_after_debug_is_always_its_keys(
    args: list[str], values: tuple[str, ...], words: tuple[str, ...]
) -> None:
    line = read(*args)
    assert (line.values("debug"), line.words) == (values, words)


@pytest.mark.parametrize("args", [["--debug"], ["--debug", "--raw"]])
def test_debug_needs_its_keys(args: list[str]) -> None:
    with pytest.raises(BadInput, match="--debug needs KEYS"):
        read(*args)


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ("", []),
        ("all,request_log, md=x ,force-markdown", []),
        ("reqest-log", ["--debug: unknown key 'reqest-log'; did you mean 'request-log'?"]),
        ("zz,all,respons_meta", ["'zz', ignored", "did you mean 'response-meta'?"]),
    ],
)
def test_keys_that_nobody_knows_are_told_with_the_nearest(keys: str, told: list[str]) -> None:
    found = list(unknown_key_warnings(keys))
    assert len(found) == len(told)
    assert all(words in line for words, line in zip(told, found, strict=True))


def test_unknown_keys_are_left_out_and_all_means_both_logs() -> None:
    assert parse_debug_keys("all,force_markdown,md=x") == {"request-log", "response-meta", "force-markdown"}
    assert parse_debug_keys("nothing") == frozenset()


def test_a_flag_is_told_as_it_is_written_shortest() -> None:
    assert flag_spellings(read("--list-contexts", "--home=x"), ["list", "home", "show"]) == ["-L", "--home"]


@given(st.lists(st.text(min_size=1), max_size=5))
def test_after_two_dashes_everything_is_said(words: list[str]) -> None:
    assert read("--", *words).words == tuple(words)


@given(st.lists(st.sampled_from([*(s for flag in FLAGS for s in flag.spellings), "log", "x", "-", "--"]), max_size=8))
def test_completion_never_complains(args: list[str]) -> None:
    assert isinstance(completion_point(args, COMMANDS), CompletionPoint)


@pytest.mark.parametrize(
    ("args", "kind"),
    [
        (["-c"], "any"),
        (["-cwork"], ""),
        (["-vc"], "any"),
        (["-vcwork"], ""),
        (["-vGwork"], "number"),
        (["-vt"], ""),
        (["-G"], "previous"),
        (["-G", "work"], "number"),
        (["-Gwork"], "number"),
        (["--home"], "folder"),
        (["log", "--home"], "folder"),
        (["--debug"], "keys"),
        (["--debug=all"], ""),
        (["--nonsense"], ""),
        (["log", "-n"], ""),
    ],
)
def test_it_is_known_which_value_comes_next(args: list[str], kind: str) -> None:
    assert completion_point(args, COMMANDS).kind == kind


def test_an_unfinished_line_keeps_what_came_before() -> None:
    line = completion_point(["--home", "x", "--project-root=y", "-c"], COMMANDS).line
    assert (line.value("home"), line.value("project_root")) == ("x", "y")


@given(st.lists(st.text(alphabet="-=cDvxPg ä\n1log", max_size=6), max_size=6))
def test_any_line_is_read_or_refused(args: list[str]) -> None:
    try:
        line = parse_command_line(args, COMMANDS)
        check_line(line)
    except BadInput:
        return
    assert len(line.words) + len(line.rest) <= len(args)


def test_settings_are_pairs_at_the_first_sign() -> None:
    assert settings_from({"sets": ("a=b=c", "d=")}) == {"a": "b=c", "d": ""}


def test_a_flag_that_means_one_setting_is_stronger() -> None:
    given = {"sets": ("model=x", "fuel=3"), "model": "y", "include": ("a,b", "c"), "exclude": (), "no_tool_calls": True}
    assert settings_from(given) == {"model": "y", "fuel": "3", "no_tool_calls": True, "tools.include": ("a", "b", "c")}


@pytest.mark.parametrize("text", ["fuel", "=3", "sk-secret"])
def test_what_is_no_pair_is_refused_without_being_shown(text: str) -> None:
    with pytest.raises(BadInput, match=r"-s takes KEY=VALUE$"):
        parse_assignment(text)


def test_an_empty_name_is_given_too_and_is_left_to_the_check() -> None:
    assert settings_from({"username": ""}) == {"username": ""}
    assert settings_from({"username": None, "model": None}) == {}


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["-c", "../x"], "'../x' cannot be the name"),
        (["-c", "new:"], "needs a prefix"),
        (["-c", "new:a/b"], "'a/b' cannot be the name"),
        (["-C", "a b"], "'a b' cannot be"),
        (["-C", "System"], "reserved"),
        (["-D", "new:x"], "'new:x' cannot be"),
        (["-A", ""], "it is empty"),
        (["-r", "-"], "stands for the previous one"),
        (["-R", "ok", "/"], "'/' cannot be"),
        (["-g", "many"], "-g takes a whole number, not 'many'"),
        (["--destroy-at", "-5"], "--destroy-at takes a whole number, not '-5'"),
        (["-n", "fule"], "did you mean 'fuel'"),
        (["-N", "x", "zzzzzz"], "`list` prints all"),
        (["-s", "fuel"], "-s takes KEY=VALUE"),
        (["-s", "=5"], "-s takes KEY=VALUE"),
        (["--allow", ""], "--allow needs EFFECTS"),
        (["-x", "hello"], "-x sends nothing to the model: remove the prompt"),
        (["-L", "hello"], "-L sends nothing to the model: remove the prompt, or add -X"),
        (["-x", "-X"], "exclude each other"),
        (["--json", "hello"], "--json needs a flag"),
        (["--yes"], "--yes works only with"),
        (["--wait-lock", "soon"], "--wait-lock takes a number of seconds, not 'soon'"),
        (["--wait-lock", "-1"], "--wait-lock takes a number of seconds"),
        (["--wait-lock=nan"], "--wait-lock takes a number of seconds"),
    ],
)
def test_what_is_wrong_is_seen_at_once(args: list[str], said: str) -> None:
    with pytest.raises(BadInput) as caught:
        check_line(parse_command_line(args))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "args",
    [
        *(["-c", "-"], ["-C", "new"], ["-c", "new:work"], ["-D", "-", "--yes"], ["-G", "-", "-5"], ["-n", "prompt"]),
        *(["-n", "providers.mine.api_key"], ["-L", "-X", "hello"], ["-a", "-m", "x", "-r", "y", "hello"]),
        *(["-P", "get_tree", "{}", "--json"], ["-s", "a=b=c", "-s", "d="], ["--wait-lock", "0.5", "hello"]),
    ],
)
def test_what_is_right_passes(args: list[str]) -> None:
    check_line(parse_command_line(args))
