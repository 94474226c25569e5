import os
from pathlib import Path

import pytest

from fakes.trees import plant
from marid.workspace.instructions import MAX_INSTRUCTION_BYTES, load_home_prompt, load_instructions


class Places:
    """A home of ours, one of the user, and a project, apart from each other."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.home, self.user, self.project = top / "marid", top / "user", top / "project"
        plant(top, {"marid/": "", "user/": "", "project/src/deep/": ""})

    def plant(self, **files: str | bytes) -> "Places":
        """Files by place, with double underscores for slashes: `project__src="..."` is its AGENTS.md."""
        for place, text in files.items():
            (self.top / place.replace("__", "/") / "AGENTS.md").write_bytes(
                text if isinstance(text, bytes) else text.encode()
            )
        return self

    def read(self, cwd: str = "project/src/deep") -> str:
        return load_instructions(str(self.home), str(self.user), str(self.project), str(self.top / cwd))


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path)


def test_the_order_is_user_home_our_home_project_and_down_to_the_working_directory(places: Places) -> None:
    places.plant(user="1", marid="2", project="3", project__src="4", project__src__deep="5")
    assert places.read() == "1\n\n2\n\n3\n\n4\n\n5"
    assert places.read("project/src") == "1\n\n2\n\n3\n\n4"
    assert places.read("project") == "1\n\n2\n\n3"


def test_the_users_home_is_read_and_our_home_only_once(places: Places) -> None:
    """Chibi took its own home for the user's, so that ~/AGENTS.md was never read and its own twice."""
    places.plant(user="of the user", marid="of marid")
    assert places.read() == "of the user\n\nof marid"


def test_a_file_that_is_reached_twice_counts_once(places: Places) -> None:
    plant(places.user, {"AGENTS.md": "1", "x/AGENTS.md": "2"})
    user = str(places.user)
    assert load_instructions(user, user, user, str(places.user / "x")) == "1\n\n2"
    places.plant(project="same")
    (places.project / "src" / "AGENTS.md").symlink_to("../AGENTS.md")
    os.link(places.project / "AGENTS.md", places.project / "src" / "deep" / "AGENTS.md")
    assert places.read() == "1\n\nsame"


def test_claude_md_counts_where_agents_md_is_missing_or_blank(places: Places) -> None:
    places.plant(project="agents", project__src=" \n\t\n")
    plant(places.project, {"CLAUDE.md": "not read", "src/CLAUDE.md": "claude", "src/deep/CLAUDE.md": "deep claude"})
    assert places.read() == "agents\n\nclaude\n\ndeep claude"


def test_texts_are_trimmed_and_blank_ones_left_out(places: Places) -> None:
    places.plant(user="\n\n one \n", marid="  \n", project="﻿two\n\n\nthree\r\n")
    assert places.read() == "one\n\ntwo\n\n\nthree"


def test_a_working_directory_outside_of_the_project_adds_nothing(places: Places) -> None:
    plant(places.top, {"project2/AGENTS.md": "other", "elsewhere/AGENTS.md": "other"})
    places.plant(project="root", project__src="src")
    assert places.read("elsewhere") == "root"
    assert places.read("project2") == "root"
    assert places.read(".") == "root"


def test_a_project_that_is_named_by_a_link_is_read(places: Places) -> None:
    places.plant(project="1", project__src="2")
    (places.top / "link").symlink_to(places.project)
    assert load_instructions("", "", str(places.top / "link"), str(places.project / "src")) == "1\n\n2"
    assert load_instructions("", "", str(places.project), str(places.top / "link" / "src")) == "1\n\n2"


def test_empty_paths_and_missing_places_are_left_out(places: Places) -> None:
    places.plant(project="p")
    assert load_instructions("", "", str(places.project), str(places.project)) == "p"
    assert load_instructions("", "", "", str(places.project)) == ""
    assert load_instructions("/nowhere/at/all", "a\0b", str(places.top / "gone"), str(places.top)) == ""


def test_a_long_file_is_cut_and_says_so(places: Places) -> None:
    places.plant(
        user="é" * MAX_INSTRUCTION_BYTES,
        project="x" * MAX_INSTRUCTION_BYTES,
        project__src="a" + "é" * MAX_INSTRUCTION_BYTES,
    )
    first, note, second, third, again = places.read().split("\n\n")
    assert first == "é" * (MAX_INSTRUCTION_BYTES // 2)
    assert note == again == "[Truncated: the file is larger than 64 KiB.]"
    assert second == "x" * MAX_INSTRUCTION_BYTES
    assert third == "a" + "é" * (MAX_INSTRUCTION_BYTES // 2 - 1)


def test_what_is_no_utf_8_is_replaced(places: Places) -> None:
    places.plant(project=b"caf\xe9 \xff ok")
    assert places.read() == "caf� � ok"


def test_pipes_folders_and_devices_of_that_name_are_ignored_without_waiting(places: Places) -> None:
    os.mkfifo(places.user / "AGENTS.md")
    os.mkfifo(places.project / "AGENTS.md")
    plant(places.project, {"CLAUDE.md": "fallback", "src/AGENTS.md/": ""})
    (places.home / "AGENTS.md").symlink_to("/dev/zero")
    (places.project / "src" / "deep" / "AGENTS.md").symlink_to("/dev/zero")
    assert places.read() == "fallback"


def test_a_link_in_the_project_counts_only_if_it_stays_there(places: Places) -> None:
    plant(places.top, {"secret.md": "secret", "project/docs/rules.md": "rules"})
    (places.project / "AGENTS.md").symlink_to("docs/rules.md")
    (places.project / "src" / "AGENTS.md").symlink_to("../../secret.md")
    (places.project / "src" / "deep" / "AGENTS.md").symlink_to(places.top / "secret.md")
    assert places.read() == "rules"


def test_a_link_in_the_project_may_not_lead_to_its_secrets(places: Places) -> None:
    plant(places.project, {".env": "KEY=1"})
    (places.project / "AGENTS.md").symlink_to(".env")
    assert places.read() == ""


def test_a_folder_of_the_project_that_is_a_link_leads_nowhere_else(places: Places) -> None:
    plant(places.top, {"other/AGENTS.md": "other"})
    (places.project / "out").symlink_to(places.top / "other")
    assert places.read("project/out") == ""


def test_a_link_in_a_home_is_the_users_own_and_is_followed(places: Places) -> None:
    plant(places.top, {"dotfiles/agents": "mine"})
    (places.user / "AGENTS.md").symlink_to(places.top / "dotfiles" / "agents")
    (places.home / "AGENTS.md").symlink_to("gone")
    assert places.read() == "mine"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_not_there(places: Places) -> None:
    places.plant(project="p", project__src="s")
    (places.project / "AGENTS.md").chmod(0)
    assert places.read() == "s"


def test_a_prompt_of_the_home_is_read_by_its_name(places: Places) -> None:
    plant(places.home, {"prompts/chibi.md": "\nBe kind.\n", "prompts/blank.md": " \n"})
    assert load_home_prompt(str(places.home), "chibi") == "Be kind."
    assert load_home_prompt(str(places.home), "blank") == ""
    assert load_home_prompt(str(places.home), "other") == ""
    assert load_home_prompt("", "chibi") == ""
