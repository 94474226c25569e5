"""Git: check revisions, branches and clone URLs, and split diffs by file."""

import re
from typing import NamedTuple

from marid.core.errors import BadInput
from marid.text.display import quote_for_message, unquote_path

MAX_REVISION_LENGTH = 255
MAX_CLONE_URL_LENGTH = 2000

# A name that git allows, except options and what makes git search (`:/text`, `^{/text}`, `@{…}`).
_NAME = r"(?!-)(?!.*(?:\.\.|@\{|//))[^\x00-\x20\x7f-\x9f\ud800-\udfff~^:?*\[\\]+(?<![./])"
_BRANCH = re.compile(_NAME)
_REVISION = re.compile(_NAME + r"(?:~[0-9]{0,6}|\^[0-9]{0,2}|\^\{commit\})*")

_PRINTABLE = re.compile(r"[!-~\u00a0-\ud7ff\ue000-\uffff]+")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?://|:)")
# User and host are passed to ssh as an argument: neither may begin like an option.
_USER = r"(?:(?!-)[^/?#]*@)?"
_HOST = r"(?:\w[\w.-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?"
_NET = re.compile(rf"(?:https?|ssh|git)://{_USER}{_HOST}/.+")
_FILE = re.compile(r"file://(?:localhost)?/.+")
_SCP_LIKE = re.compile(r"[A-Za-z0-9_][\w.-]*@[A-Za-z0-9][\w.-]*:(?![-/]*-)[^:]\S*", re.ASCII)
_OWNER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*/(?!\.{1,2}$)[A-Za-z0-9_.][A-Za-z0-9_.-]*")


def check_revision(text: str) -> str:
    """The text. Raises: BadInput if it is not a name or a hash, optionally with `~2`, `^` and `^{commit}` after it."""
    if len(text) > MAX_REVISION_LENGTH or not _REVISION.fullmatch(text):
        raise BadInput(f"not a git revision: {quote_for_message(text)}")
    return text


def check_branch(text: str) -> str:
    """The text. Raises: BadInput if it cannot be the name of a branch or a tag."""
    if len(text) > MAX_REVISION_LENGTH or not _BRANCH.fullmatch(text):
        raise BadInput(f"not a git branch name: {quote_for_message(text)}")
    return text


def clone_url(spec: str, host: str) -> str | None:
    """The URL that the spec is, or that `owner/name` means on `host`; else None. Raises as `check_clone_url`."""
    if _SCHEME.match(spec) or _SCP_LIKE.fullmatch(spec):
        return check_clone_url(spec)
    if _OWNER_NAME.fullmatch(spec):
        return check_clone_url(f"{host.rstrip('/')}/{spec}")
    return None


def check_clone_url(url: str) -> str:
    """The URL. Raises: BadInput if its transport could run a command, it looks like an option, or it has no host."""
    if len(url) <= MAX_CLONE_URL_LENGTH and _PRINTABLE.fullmatch(url):
        for form in (_NET, _FILE, _SCP_LIKE):
            if form.fullmatch(url):
                return url
    # Whatever is before an `@` may be a secret, even in the wrong place.
    raise BadInput(f"not a URL that can be cloned: {quote_for_message(public_url(url).rpartition('@')[2])}")


def public_url(url: str) -> str:
    """The URL without user, password and query, which may be secrets."""
    scheme, mark, rest = url.partition("://")
    if not mark:
        return url
    authority, slash, path = re.split(r"[?#]", rest, maxsplit=1)[0].partition("/")
    return f"{scheme}://{authority.rpartition('@')[2]}{slash}{path}"


def redact_url(text: str, url: str) -> str:
    """The text with the secrets of the URL replaced wherever they occur."""
    rest, _, query = url.partition("://")[2].partition("?")
    credentials, _, _ = rest.partition("/")[0].rpartition("@")
    user, _, password = credentials.partition(":")
    # Over HTTP a user without a password is a token; over ssh the key is the secret.
    token = user if url.startswith("http") else ""
    cleaned = text.replace(url, public_url(url))
    for secret in (password or token, query):
        decoded = re.sub("%([0-9A-Fa-f]{2})", lambda found: chr(int(found[1], 16)), secret)
        for spelling in (secret, decoded):
            cleaned = cleaned.replace(spelling, "***") if spelling else cleaned
    return cleaned


def clone_folder_name(url: str) -> str:
    """A folder name for a clone: the last part of the URL without `.git` and unusual characters."""
    last = re.split(r"[/:]", public_url(url).rstrip("/"))[-1].removesuffix(".git")
    return re.sub(r"[^A-Za-z0-9_.-]", "_", last).lstrip(".-") or "repository"


_UNMERGED = re.compile(rb"\* Unmerged path (.+)")
_RENAMED = re.compile(rb"^(?:rename|copy) to (.+)$", re.MULTILINE)
_HEADER = b"diff --git "
# Content lines begin with a space, a sign or a backslash, so these can only be headers.
_FILE_START = re.compile(rb"^(?=diff --git |\* Unmerged path )", re.MULTILINE)


class FileDiff(NamedTuple):
    """The diff of one file. `name` is relative, with slashes."""

    name: str
    data: bytes


def split_diff(diff: bytes) -> list[FileDiff]:
    """Split a diff that was made with the prefixes `a/` and `b/`; a renamed file has its new name."""
    return [FileDiff(_file_name(data), data) for data in _FILE_START.split(diff) if data]


def _file_name(data: bytes) -> str:
    head = data.partition(b"\n@@ ")[0]
    if found := _RENAMED.search(head) or _UNMERGED.match(head):
        return unquote_path(found[1].decode("utf-8", "surrogateescape"))
    # `a/NAME b/NAME`: both sides are equally long, so spaces in the name do not matter.
    both = head.partition(b"\n")[0].removeprefix(_HEADER)
    return unquote_path(both[: (len(both) - 1) // 2].decode("utf-8", "surrogateescape")).removeprefix("a/")
