import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from marid.core.errors import BadInput
from marid.text import git_text
from marid.text.git_text import split_diff

HOST = "https://github.com/"


@pytest.mark.parametrize(
    "rev",
    [
        *("HEAD", "@", "main", "feature/x", "v1.2.3", "origin/main", "fix#12", "über", "refs/heads/a+b=c"),
        *("HEAD~", "HEAD~3", "HEAD^", "HEAD^2", "v1^{commit}", "main~2^2~1", "0" * 40, "v1-3-gabcdef"),
    ],
)
def test_a_revision_is_a_name_with_steps_back(rev: str) -> None:
    assert git_text.check_revision(rev) == rev


@pytest.mark.parametrize(
    "rev",
    [
        *("", "-x", "--output=/tmp/x", "--no-index", "--format=evil", "HEAD^{/(a+)+$}", ":/text", ":0:file"),
        *("HEAD:file", "@{-99999}", "HEAD@{1}", "@{u}", "a..b", "a...b", "^HEAD", "HEAD^{tree}", "HEAD^{}"),
        *("HEAD~9999999", "HEAD^-", "a b", "a\n", "a\0b", "a\x7f", "a\x85", "a\ud800", "a*", "a?", "a[b]", "a\\b"),
        *("a.", "a/", "a//b", "~1"),
        "x" * 256,
    ],
)
def test_an_invalid_revision_is_refused_by_name(rev: str) -> None:
    with pytest.raises(BadInput, match="not a git revision: '") as error:
        git_text.check_revision(rev)
    assert str(error.value).isprintable()


@pytest.mark.parametrize("rev", ["a" * 1_000_000, "~" * 1_000_000, "." * 1_000_000, "HEAD" + "^" * 250 + "/"])
def test_a_long_revision_is_refused_at_once_in_a_short_message(rev: str) -> None:
    before = time.process_time()
    with pytest.raises(BadInput) as error:
        git_text.check_revision(rev)
    assert time.process_time() - before < 0.5
    assert len(str(error.value)) < 200


@given(st.text(max_size=30))
@example("-")
def test_no_revision_or_branch_could_be_an_option_or_two_words(text: str) -> None:
    for judge in (git_text.check_revision, git_text.check_branch):
        try:
            accepted = judge(text)
        except BadInput:
            continue
        assert accepted == text
        assert not text.startswith("-")
        assert ".." not in text
        assert "\n" not in text
        assert " " not in text


def test_a_branch_has_no_steps_back() -> None:
    assert git_text.check_branch("feature/x") == "feature/x"
    for text in ("main~1", "-b", "", "a:b", "^a", "x" * 256):
        with pytest.raises(BadInput, match="not a git branch name"):
            git_text.check_branch(text)


@pytest.mark.parametrize(
    "url",
    [
        *("https://github.com/a/b", "http://localhost:8080/a/b.git", "ssh://git@host:22/a", "git://host/a"),
        *("file:///srv/a", "file://localhost/srv/a", "git@github.com:a/b.git", "https://[::1]:80/a"),
        "https://u:p@host/a",
        *("git@host:~user/a", "https://host/@scope/a"),
    ],
)
def test_a_url_stands_for_itself(url: str) -> None:
    assert git_text.clone_url(url, HOST) == url


@pytest.mark.parametrize("spec", ["torvalds/linux", "a-b/c.d_e", "a/.github", "A1/x.git"])
def test_an_owner_and_a_name_stand_for_a_url_on_the_host(spec: str) -> None:
    assert git_text.clone_url(spec, HOST) == f"https://github.com/{spec}"
    assert git_text.clone_url(spec, "https://git.example.com") == f"https://git.example.com/{spec}"


@pytest.mark.parametrize(
    "spec",
    [
        *("", ".", "src", "./a", "../a", "a/b/c", "/a/b", "a/..", "a/.", "-a/b", "a/-b", "a b/c", "a/b\n", ".a/b"),
        "~/a",
        *("C:\\x", "host:path", "-x", "--upload-pack=x", "git@host:-x", "git@-oProxyCommand=x:a", "-u@host:a"),
    ],
)
def test_other_words_stand_for_no_url(spec: str) -> None:
    assert git_text.clone_url(spec, HOST) is None


@pytest.mark.parametrize(
    "url",
    [
        *("ext::sh -c touch% x", "ext::sh", "fd::7", "ftp://host/a", "EXT::x", "https::https://host/a"),
        "javascript://x/%0a",
        *("ssh://-oProxyCommand=x/a", "ssh://-x@host/a", "ssh://u@-x/a", "https:///a", "https://host", "https://host/"),
        *("https://host/a\n", "https://host/a\rb", "https://ho st/a", "file://host/a", "file://"),
        "https://host:port/a",
        *("https://host/" + "a" * 2000, "https://host/\x1b[31m", "https://host/\ud800", "file:///a\0b"),
    ],
)
def test_a_url_that_git_must_not_be_given_is_refused(url: str) -> None:
    with pytest.raises(BadInput, match="not a URL that can be cloned") as error:
        git_text.clone_url(url, HOST)
    assert str(error.value).isprintable()
    assert len(str(error.value)) < 200


@pytest.mark.parametrize(
    "url", ["ftp://me:secret@host/a", "https://me:sec/secret@host/a", "https://me:secret@my host/a"]
)
def test_a_refused_url_is_named_without_its_credentials(url: str) -> None:
    with pytest.raises(BadInput, match="host") as error:
        git_text.clone_url(url, HOST)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("url", "public"),
    [
        ("https://me:secret@host/a", "https://host/a"),
        ("https://token@host:80/a?key=1#x", "https://host:80/a"),
        ("https://host/@scope/a", "https://host/@scope/a"),
        ("https://host?key=1", "https://host"),
        ("git@host:a", "git@host:a"),
        ("file:///srv/a", "file:///srv/a"),
    ],
)
def test_a_public_url_holds_no_secret(url: str, public: str) -> None:
    assert git_text.public_url(url) == public


@pytest.mark.parametrize(
    ("message", "url", "cleaned"),
    [
        ("no 'https://me:pw@h/a'", "https://me:pw@h/a", "no 'https://h/a'"),
        ("no https://me:pw@h/a/ for pw", "https://me:pw@h/a", "no https://h/a/ for ***"),
        ("https://tok@h/ wants a password", "https://tok@h/a", "https://***@h/ wants a password"),
        ("p@w or p%40w", "https://me:p%40w@h/a", "*** or ***"),
        ("git: h?key=1", "https://h/a?key=1", "git: h?***"),
        ("git failed", "ssh://git@h/a", "git failed"),
        ("git failed", "git@h:a", "git failed"),
    ],
)
def test_a_message_is_rid_of_the_secrets_of_its_url(message: str, url: str, cleaned: str) -> None:
    assert git_text.redact_url(message, url) == cleaned


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://host/a/b.git", "b"),
        ("https://host/a/b/", "b"),
        ("git@host:b.git", "b"),
        ("git@host:~a", "_a"),
        ("file:///srv/..", "repository"),
        ("file:///srv/.git", "repository"),
        ("https://host/a/-x", "x"),
        ("https://host/a/ü?x=/etc", "_"),
    ],
)
def test_a_clone_has_a_harmless_folder_name(url: str, name: str) -> None:
    assert git_text.clone_folder_name(url) == name


@given(st.text())
def test_every_folder_name_is_one_plain_part_of_a_path(url: str) -> None:
    name = git_text.clone_folder_name(url)
    assert name
    assert "/" not in name
    assert name not in (".", "..", ".git")
    assert name.isascii()


def diff(name: str, body: str = "@@ -1 +1 @@\n-a\n+b\n") -> str:
    return f"diff --git a/{name} b/{name}\nindex 1..2 100644\n--- a/{name}\n+++ b/{name}\n{body}"


def test_a_diff_falls_into_its_files() -> None:
    whole = diff("a.txt") + diff("sub/b c.txt")
    assert [part.name for part in split_diff(whole.encode())] == ["a.txt", "sub/b c.txt"]
    assert b"".join(part.data for part in split_diff(whole.encode())) == whole.encode()


QUOTED = b'diff --git "a/tab\\there \\303\\274" "b/tab\\there \\303\\274"\nnew file mode 100644\n'
LIKE_HEADERS = "@@ -1,2 +1,2 @@\n-diff --git a/x b/x\n+* Unmerged path x\n diff --git a/y b/y\n"


@pytest.mark.parametrize(
    ("data", "names"),
    [
        pytest.param(diff("a", LIKE_HEADERS).encode(), ["a"], id="content like headers"),
        pytest.param(QUOTED, ["tab\there ü"], id="quoted by git"),
        pytest.param(diff("x b/x").encode(), ["x b/x"], id="name with the separator"),
        pytest.param(b"diff --git a/\xff b/\xff\n", ["\udcff"], id="not UTF-8"),
        pytest.param((diff("a") + "* Unmerged path c\n" + diff("b")).encode(), ["a", "c", "b"], id="unmerged"),
        pytest.param(b"", [], id="empty"),
    ],
)
def test_the_names_of_files_are_read(data: bytes, names: list[str]) -> None:
    assert [part.name for part in split_diff(data)] == names
