import pytest

from fakes.settings import SettingsFiles


@pytest.mark.parametrize(
    ("users", "own", "told"),
    [
        ("fuel = 10", "fuel = 99", "'fuel' of a project may only tighten: 99 is ignored because it is looser than 10"),
        ("fuel = 10", "fuel = 0", "0 is ignored because it is looser than 10"),
        ("", "max_size_mb = 500", "500 is ignored because it is looser than 100"),
        ("", "policy.ask_seconds = 90", "90 is ignored because it is looser than 60"),
        ("", "mask = false", "false is ignored because it is looser than true"),
        ("no_tool_calls = true", "no_tool_calls = false", "false is ignored"),
        ("", 'outside = "ask"', '"ask" is ignored because it is looser than "deny"'),
        ("", 'policy.exec = "allow"', "'policy.exec' of a project may only tighten: \"allow\" is ignored"),
        ('policy.exec = "deny"', 'policy.exec = "ask"', '"ask" is ignored because it is looser than "deny"'),
        ("", 'policy.outside = "ask"', "'policy.outside'"),
        ('policy.run_shell = "deny"', 'policy.run_shell = "ask"', '"ask" is ignored because it is looser than "deny"'),
        ("", 'policy.tools.run_shell = "allow"', "'policy.tools.run_shell' of a project may only tighten: "),
        ("", 'policy.hosts = ["example.org"]', "hosts are ignored"),
    ],
)
def test_what_a_project_would_loosen_is_told_with_its_line_and_ignored(
    place: SettingsFiles, users: str, own: str, told: str
) -> None:
    place.config(f"{users}\n")
    place.marid_toml(f"# ours\n{own}\n")
    (note,) = place.resolve().notes
    assert note.startswith(f"{place.project}/.marid.toml:2: ")
    assert told in note


@pytest.mark.parametrize(
    ("users", "own"),
    [
        ("fuel = 10", "fuel = 10"),
        ("fuel = 0", "fuel = 99"),
        ("fuel = 0", "fuel = 0"),
        ("mask = false", "mask = false"),
        ('policy.exec = "allow"', 'policy.exec = "allow"'),
        ('policy.exec = "allow"', 'policy.exec = "ask"'),
        ('policy.run_shell = "allow"', 'policy.run_shell = "allow"'),
        ("", 'policy.exec = "deny"\npolicy.run_shell = "allow"'),
        ("", 'policy.run_shell = "ask"'),
        ('tools.exclude = ["a"]', "tools.exclude = []"),
    ],
)
def test_what_loosens_nothing_is_not_told(place: SettingsFiles, users: str, own: str) -> None:
    place.config(f"{users}\n")
    place.marid_toml(f"{own}\n")
    assert place.resolve().notes == ()


def test_of_a_hostile_project_not_everything_is_told(place: SettingsFiles) -> None:
    place.marid_toml("\n".join(f'policy."t\\u001b{number}" = "allow"' for number in range(200)))
    notes = place.resolve().notes
    assert len(notes) == 50
    assert all(note.isprintable() for note in notes)


def test_a_list_that_a_project_adds_to_comes_from_both(place: SettingsFiles) -> None:
    place.config('rules = ["*.md"]\ntools.exclude = ["a"]\n')
    place.marid_toml('rules = ["!b"]\nno_tool_calls = true\n[tools]\nexclude = ["b"]\nexclude_categories = ["net"]\n')
    place.local('tools.exclude = ["c"]\n')
    origins = place.resolve().origins
    config, own = f"{place.home}/config.toml", f"{place.project}/.marid.toml"
    assert origins["rules"] == f"{config}, {own}"
    assert origins["tools.exclude"] == f"{config}, {own}, {place.own}/local.toml"
    assert origins["tools.exclude_categories"] == origins["no_tool_calls"] == own


def test_a_table_of_verdicts_comes_from_every_place_that_has_one(place: SettingsFiles) -> None:
    place.config('policy.exec = "deny"\n')
    place.local('policy.write = "allow"\n')
    assert place.resolve().origins["policy"] == f"{place.home}/config.toml, {place.own}/local.toml"
