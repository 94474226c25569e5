import pytest

from marid.app.tool_session import ToolAccess, access_from_flags
from marid.core.policy.policy import Effect
from marid.faces.flags import ANY, DEBUG_LOGS, FLAGS, GROUPS, PREVIOUS, Flag, find_flag, parse_log_names

# facts about the program that is replaced: letter, long name, number of values, and whether nothing is said then
CHIBI = """
    -c --switch-context 1 no | -C --ephemeral-context 1 no | -l --list-current-context 0 yes | -L --list-contexts 0 yes
    -d --destroy-current-context 0 yes | -D --destroy-context 1 yes | -a --archive-current-history 0 no
    -A --archive-history 1 yes | -r --rename-current-context 1 no | -R --rename-context 2 yes
    -b --check-all-inboxes 0 no | -B --check-inbox-for 1 no | -g --show-current-log 1 yes | -G --show-log 2 yes
    -n --inspect-current 1 yes | -N --inspect 2 yes | -y --set-current-system-prompt 1 no
    -Y --set-system-prompt 2 yes | -u --set-username 1 no | -U --ephemeral-username 1 no | -P --call-tool 2 yes
    -m --set-model 1 no | -M --set-model-for-context 2 yes | - --model-metadata 1 yes | - --model-metadata-full 1 yes
    -v --verbose 0 no | -t --trust 0 no | - --show-thinking 0 no | - --hide-tool-calls 0 no | - --no-tool-calls 0 no
    - --raw 0 no | -x --force-call-user 0 no | -X --force-call-agent 0 no | -s --set 1 no | - --debug 1 no
    - --destroy-at 1 no | - --destroy-after-inactive 1 no | - --home 1 no | - --project-root 1 no
"""


def rows() -> list[list[str]]:
    return [list(map(str, row.split())) for line in CHIBI.strip().splitlines() for row in line.split("|")]


def by_long() -> dict[str, Flag]:
    return {flag.long: flag for flag in FLAGS}


def test_every_flag_of_the_program_that_is_replaced_is_there() -> None:
    found = by_long()
    told = [
        [found[long].short or "-", long, str(len(found[long].values)), "yes" if found[long].alone else "no"]
        for _, long, _, _ in rows()
    ]
    assert told == rows()


def test_no_spelling_and_no_name_is_there_twice() -> None:
    spellings = [spelling for flag in FLAGS for spelling in flag.spellings]
    assert len(spellings) == len(set(spellings))
    assert len({flag.name for flag in FLAGS}) == len(FLAGS)


def test_a_capital_letter_names_a_conversation() -> None:
    twins = [flag for flag in FLAGS if flag.name.endswith("_of")]
    assert [flag.name for flag in twins if not flag.short.isupper() or flag.values[0].kind != PREVIOUS] == []
    assert find_flag("conversation").values[0].kind == ANY


def test_every_flag_says_what_it_does_in_a_sentence() -> None:
    assert [flag.long for _, flags in GROUPS for flag in flags if not flag.help.endswith(".")] == []


def test_the_help_shows_all_spellings_and_values() -> None:
    assert find_flag("log_of").usage == "-G, --show-log NAME N"
    assert find_flag("as_json").usage == "--json"


@pytest.mark.parametrize(
    ("words", "logs"),
    [
        ((), ()),
        (("request_log", " x"), ("request-log",)),
        (("all",), DEBUG_LOGS),
        (("response-meta", "request-log"), DEBUG_LOGS),
    ],
)
def test_words_mean_logs(words: tuple[str, ...], logs: tuple[str, ...]) -> None:
    assert parse_log_names(words) == frozenset(logs)


def test_flags_before_and_after_the_name_add_up() -> None:
    before = {"roots": ("a",), "allow": ("write",), "trust": False}
    after = {"roots": ("b",), "files": ("f",), "allow": ("exec,net",), "wait": True}
    assert access_from_flags(before, after) == ToolAccess(
        roots=("a", "b"), files=("f",), allow=frozenset({Effect.WRITE, Effect.EXEC, Effect.NET}), wait=True
    )


def test_without_flags_the_settings_decide() -> None:
    assert access_from_flags({}) == ToolAccess()
