"""What may stand for a revision, a branch or a remote repository, judged before git hears of it."""

import re

from marid.core.errors import BadInput
from marid.text.display import quote_for_message

MAX_REVISION_LENGTH = 255
MAX_CLONE_URL_LENGTH = 2000

# A name as git itself allows one, less options and what makes git search (`:/text`, `^{/text}`, `@{…}`).
_NAME = r"(?!-)(?!.*(?:\.\.|@\{|//))[^\x00-\x20\x7f-\x9f\ud800-\udfff~^:?*\[\\]+(?<![./])"
_BRANCH = re.compile(_NAME)
_REVISION = re.compile(_NAME + r"(?:~[0-9]{0,6}|\^[0-9]{0,2}|\^\{commit\})*")

_PRINTABLE = re.compile(r"[!-~\u00a0-\ud7ff\ue000-\uffff]+")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?://|:)")
# User and host are handed to ssh as an argument: neither may begin like an option.
_USER = r"(?:(?!-)[^/?#]*@)?"
_HOST = r"(?:\w[\w.-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?"
_NET = re.compile(rf"(?:https?|ssh|git)://{_USER}{_HOST}/.+")
_FILE = re.compile(r"file://(?:localhost)?/.+")
_SCP_LIKE = re.compile(r"[A-Za-z0-9_][\w.-]*@[A-Za-z0-9][\w.-]*:(?![-/]*-)[^:]\S*", re.ASCII)
_OWNER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*/(?!\.{1,2}$)[A-Za-z0-9_.][A-Za-z0-9_.-]*")


def check_revision(text: str) -> str:
    """The text, when it has the form of a revision: a name or a hash, with `~2`, `^` and `^{commit}` after it.

    Raises:
        BadInput: it has another form; the message names it.
    """
    if len(text) > MAX_REVISION_LENGTH or not _REVISION.fullmatch(text):
        raise BadInput(f"not a git revision: {quote_for_message(text)}")
    return text


def check_branch(text: str) -> str:
    """The text, when it may be the name of a branch or a tag.

    Raises:
        BadInput: it may not; the message names it.
    """
    if len(text) > MAX_REVISION_LENGTH or not _BRANCH.fullmatch(text):
        raise BadInput(f"not the name of a git branch: {quote_for_message(text)}")
    return text


def clone_url(spec: str, host: str) -> str | None:
    """The URL that the spec is, or stands for as `owner/name` on `host`; None when it is neither.

    Raises:
        BadInput: it is a URL, of a kind that we do not clone.
    """
    if _SCHEME.match(spec) or _SCP_LIKE.fullmatch(spec):
        return check_clone_url(spec)
    if _OWNER_NAME.fullmatch(spec):
        return check_clone_url(f"{host.rstrip('/')}/{spec}")
    return None


def check_clone_url(url: str) -> str:
    """The URL, when git may be given it.

    Raises:
        BadInput: its transport could run a command, it could be taken for an option, or it has no host.
    """
    if len(url) <= MAX_CLONE_URL_LENGTH and _PRINTABLE.fullmatch(url):
        for form in (_NET, _FILE, _SCP_LIKE):
            if form.fullmatch(url):
                return url
    # What stands before an `@` may be a secret, also where it stands in the wrong place.
    raise BadInput(f"not a URL that can be cloned: {quote_for_message(public_url(url).rpartition('@')[2])}")


def public_url(url: str) -> str:
    """The URL without what could be a secret: user, password and query."""
    scheme, mark, rest = url.partition("://")
    if not mark:
        return url
    place, slash, path = re.split(r"[?#]", rest, maxsplit=1)[0].partition("/")
    return f"{scheme}://{place.rpartition('@')[2]}{slash}{path}"


def redact_url(text: str, url: str) -> str:
    """The text of a message about the URL, with the URL's secrets taken out wherever they stand."""
    place, _, query = url.partition("://")[2].partition("?")
    known, _, _ = place.partition("/")[0].rpartition("@")
    user, _, password = known.partition(":")
    # A user without a password is a token, except where the key is the secret.
    token = user if url.startswith("http") else ""
    cleaned = text.replace(url, public_url(url))
    for secret in (password or token, query):
        for spelling in (secret, _percent_decode(secret)):
            cleaned = cleaned.replace(spelling, "***") if spelling else cleaned
    return cleaned


def clone_folder_name(url: str) -> str:
    """A folder name for a clone of the URL: its last part, less `.git` and unusual characters."""
    last = re.split(r"[/:]", public_url(url).rstrip("/"))[-1].removesuffix(".git")
    return re.sub(r"[^A-Za-z0-9_.-]", "_", last).lstrip(".-") or "repository"


def _percent_decode(text: str) -> str:
    return re.sub("%([0-9A-Fa-f]{2})", lambda found: chr(int(found[1], 16)), text)
