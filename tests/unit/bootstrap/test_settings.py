import os
from pathlib import Path

import pytest

from marid.bootstrap.settings import load_settings
from marid.core.errors import BadInput
from marid.core.settings import SETTINGS, Settings

KNOWN = ", ".join(setting.name for setting in SETTINGS)


class Place:
    """A home and a project with settings files."""

    def __init__(self, top: Path) -> None:
        self.home = top / "home"
        self.project = top / "project"
        self.home.mkdir()
        self.project.mkdir()
        self.warnings: list[str] = []

    def config(self, text: str) -> None:
        (self.home / "config.toml").write_text(text)

    def own(self, text: str) -> None:
        (self.project / ".marid.toml").write_text(text)

    def load(self, **environ: str) -> Settings:
        return load_settings(str(self.home), str(self.project), environ, self.warnings.append)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_without_anything_the_defaults_are_in_force(place: Place) -> None:
    assert place.load() == Settings(home=str(place.home))


def test_the_file_of_the_user_is_read(place: Place) -> None:
    place.config(
        'max_size_mb = 5\nencoding = "cl100k_base"\nmask = false\nrules = ["!*.md"]\nclone_host = "https://x.org/"\n'
    )
    assert place.load() == Settings(
        home=str(place.home),
        max_size_mb=5.0,
        encoding="cl100k_base",
        mask=False,
        rules=("!*.md",),
        clone_host="https://x.org/",
    )


def test_the_environment_is_stronger_than_the_file(place: Place) -> None:
    place.config('max_size_mb = 5\nencoding = "x"\nmask = true\nrules = ["a"]\n')
    found = place.load(MARID_MAX_SIZE_MB="7.5", MARID_ENCODING="cl100k_base", MARID_MASK="no", MARID_RULES="!*.md:*.py")
    assert (found.max_size_mb, found.encoding, found.mask) == (7.5, "cl100k_base", False)
    assert found.rules == ("!*.md", "*.py")


@pytest.mark.parametrize(
    ("text", "value"), [("1", True), ("TRUE", True), ("yes", True), ("0", False), ("False", False), ("no", False)]
)
def test_a_switch_may_be_written_in_several_ways(place: Place, text: str, value: bool) -> None:
    assert place.load(MARID_MASK=text).mask is value


def test_the_name_of_the_document_counts_and_ours_is_stronger(place: Place) -> None:
    assert place.load(JINNI_MAX_SIZE_MB="3").max_size_mb == 3.0
    assert place.load(JINNI_MAX_SIZE_MB="3", MARID_MAX_SIZE_MB="4").max_size_mb == 4.0


def test_an_empty_variable_is_none(place: Place) -> None:
    assert place.load(JINNI_MAX_SIZE_MB="", MARID_ENCODING="", MARID_MASK="") == Settings(home=str(place.home))


def test_a_project_may_lower_a_limit_and_not_raise_it(place: Place) -> None:
    place.own("max_size_mb = 5\n")
    assert place.load().max_size_mb == 5.0
    assert place.load(MARID_MAX_SIZE_MB="2").max_size_mb == 2.0


def test_a_project_may_turn_masking_on_and_not_off(place: Place) -> None:
    place.own("mask = true\n")
    assert place.load(MARID_MASK="no").mask
    place.own("mask = false\n")
    assert place.load().mask


def test_a_project_may_add_exclusions_to_the_user_s_rules(place: Place) -> None:
    place.config('rules = ["*.md"]\n')
    place.own('rules = ["!secret/", " !*.pem"]\n')
    assert place.load().rules == ("*.md", "!secret/", " !*.pem")


def test_a_project_may_not_include(place: Place) -> None:
    place.own('rules = ["!a", "*.env"]\n')
    with pytest.raises(BadInput, match=r"'rules' of a project may only exclude \(begin with '!'\), not '\*.env'"):
        place.load()


@pytest.mark.parametrize("key", ["encoding", "clone_host"])
def test_a_project_may_set_nothing_else(place: Place, key: str) -> None:
    place.own(f'{key} = "x"\n')
    with pytest.raises(BadInput, match=f"'{key}' may not be set by a project"):
        place.load()


def test_keys_of_parts_that_are_not_built_yet_are_warnings_in_the_home_of_chibi(place: Place) -> None:
    place.config('api_key = "k"\nmodel = "m"\nmax_size_mb = 3\n\n[api]\ntemperature = 1\n')
    assert place.load().max_size_mb == 3.0
    assert place.warnings == [f"{place.home / 'config.toml'}: not used yet: api, api_key, model"]


def test_in_a_project_they_are_errors(place: Place) -> None:
    place.own('api_key = "k"\n')
    with pytest.raises(BadInput, match="unknown key 'api_key'"):
        place.load()


def test_all_problems_are_told_at_once_with_suggestions(place: Place) -> None:
    place.config('max_size = 5\nzzzzz = 1\nmask = "maybe"\nrules = "x"\nencoding = 3\nmax_size_mb = "lots"\n')
    place.own("max_size_mb = -1\n")
    with pytest.raises(BadInput) as caught:
        place.load(MARID_MASK="perhaps", JINNI_MAX_SIZE_MB="big")
    file, project = place.home / "config.toml", place.project / ".marid.toml"
    assert str(caught.value).split("\n") == [
        "the settings have problems:",
        f"  {file}: unknown key 'max_size'; did you mean 'max_size_mb'?",
        f"  {file}: unknown key 'zzzzz'; known are {KNOWN}",
        f"  {file}: 'mask' must be true or false, not 'maybe'",
        f"  {file}: 'rules' must be a list of texts, not 'x'",
        f"  {file}: 'encoding' must be a text, not 3",
        f"  {file}: 'max_size_mb' must be a number above 0, not 'lots'",
        "  JINNI_MAX_SIZE_MB: 'max_size_mb' must be a number above 0, not 'big'",
        "  MARID_MASK: 'mask' must be true or false, not 'perhaps'",
        f"  {project}: 'max_size_mb' must be a number above 0, not -1",
    ]


@pytest.mark.parametrize("value", ["0", "-1", "inf", "nan", "true"])
def test_a_limit_is_a_number_above_nothing(place: Place, value: str) -> None:
    place.config(f"max_size_mb = {value}\n")
    with pytest.raises(BadInput, match="must be a number above 0"):
        place.load()


def test_a_list_holds_texts_only(place: Place) -> None:
    place.config('rules = ["a", 1]\n')
    with pytest.raises(BadInput, match="must be a list of texts"):
        place.load()


@pytest.mark.parametrize("text", ["max_size_mb = \n", "\udcff"])
def test_a_file_that_is_no_toml_is_told_by_name(place: Place, text: str) -> None:
    (place.home / "config.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadInput, match=r"config\.toml: "):
        place.load()


def test_a_folder_in_the_place_of_a_file_is_told(place: Place) -> None:
    (place.home / "config.toml").mkdir()
    with pytest.raises(BadInput, match="Is a directory"):
        place.load()


def test_a_pipe_or_a_device_in_the_place_of_a_file_is_told_at_once(place: Place) -> None:
    os.mkfifo(place.project / ".marid.toml")
    (place.home / "config.toml").symlink_to("/dev/zero")
    with pytest.raises(
        BadInput, match=r"(?s)config\.toml: it is no regular file.*\.marid\.toml: it is no regular file"
    ):
        place.load()


@pytest.mark.parametrize(
    ("text", "words"), [(f"rules = {'[' * 100_000}", "nested too deeply"), ("#" * 1_048_577, "larger than 1,048,576")]
)
def test_a_file_that_is_too_deep_or_too_large_is_told(place: Place, text: str, words: str) -> None:
    place.own(text)
    with pytest.raises(BadInput, match=words):
        place.load()


def test_the_policy_is_a_table_of_verdicts(place: Place) -> None:
    place.config('[policy]\nwrite = "allow"\nrun_shell = "deny"\n')
    assert dict(place.load().policy) == {"write": "allow", "run_shell": "deny"}
    assert dict(place.load(MARID_POLICY="net=ask, exec=deny").policy) == {"net": "ask", "exec": "deny"}


@pytest.mark.parametrize(
    ("text", "words"),
    [('[policy]\nwrite = "maybe"\n', "'write' must be .*, not 'maybe'"),
     ('policy = "allow"\n', "'policy' must be a table of verdicts, not 'allow'"),
     ("[policy]\nwrite = true\n", "'write' must be .*, not True")],
)  # fmt: skip
def test_another_verdict_is_refused(place: Place, text: str, words: str) -> None:
    place.config(text)
    with pytest.raises(BadInput, match=words):
        place.load()


def test_the_policy_of_a_project_is_kept_apart_so_that_it_can_only_narrow(place: Place) -> None:
    place.config('[policy]\nwrite = "ask"\n')
    place.own('[policy]\nwrite = "allow"\nexec = "deny"\n')
    found = place.load()
    assert dict(found.policy) == {"write": "ask"}
    assert dict(found.narrower) == {"write": "allow", "exec": "deny"}


def test_a_project_may_close_the_outside_and_not_open_it(place: Place) -> None:
    place.config('outside = "ask"\n')
    place.own('outside = "deny"\n')
    assert place.load().outside == "deny"
    place.config("")
    place.own('outside = "ask"\n')
    assert place.load().outside == "deny"


def test_the_outside_is_denied_or_asked_for(place: Place) -> None:
    place.config('outside = "allow"\n')
    with pytest.raises(BadInput, match="'outside' must be ask or deny, not 'allow'"):
        place.load()


def test_the_list_of_allowed_paths_of_a_chibi_home_is_read(place: Place) -> None:
    place.config('file_tools_allowed_paths = ["/srv/a"]\n')
    assert place.load().files == ("/srv/a",)
    assert place.warnings == []


def test_hosts_with_ports_may_stand_in_the_environment(place: Place) -> None:
    assert place.load(MARID_NET_ALLOW="127.0.0.1:8123,example.org").net_allow == ("127.0.0.1:8123", "example.org")
