"""What the process was started with: its environment, its home and its project."""

import os
from collections.abc import Mapping
from stat import S_IFDIR, S_IFMT, S_IFREG
from types import MappingProxyType

from marid.core.errors import BadInput, NotFound
from marid.core.settings.values import Settings
from marid.text.display import quote_path
from marid.workspace.rules.ignore_files import UserGitFiles

# What is shorter is a word in the place of a key: hiding it everywhere would hide ordinary text.
_MIN_KEY_LENGTH = 8
# Where the services' own programs look for a key; used only for the provider that is named.
_VARIABLES = MappingProxyType(
    {
        "openai": ("OPENAI_API_KEY",),
        "openrouter": ("OPENROUTER_API_KEY",),
        "anthropic": ("ANTHROPIC_API_KEY",),
        "google": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    }
)
# What marks the top; in worktrees and submodules of git it is a file.
MARKERS: tuple[tuple[str, tuple[int, ...]], ...] = (
    (".git", (S_IFDIR, S_IFREG)),
    *((name, (S_IFDIR,)) for name in (".hg", ".svn", ".bzr", ".pijul", ".jj")),
    *((name, (S_IFREG,)) for name in (".fslckout", "_FOSSIL_")),
)
CVS = "CVS"


def user_home(environ: Mapping[str, str]) -> str:
    """The user's home folder: HOME, else from the system's list of users; "" if it is unknown."""
    if home := environ.get("HOME"):
        return home
    import pwd  # imported when used: HOME is nearly always set

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


def find_home(environ: Mapping[str, str]) -> str:
    """Where marid keeps its own files: MARID_HOME, else CHIBI_HOME, else ~/.marid.

    Raises: BadInput if there is no home folder.
    """
    if given := environ.get("MARID_HOME") or environ.get("CHIBI_HOME"):
        return os.path.abspath(given)
    if not (user := user_home(environ)):
        raise BadInput("no home folder found: set MARID_HOME or use --home DIR")
    return os.path.join(os.path.abspath(user), ".marid")


def find_project(environ: Mapping[str, str], cwd: str, given: str = "") -> str:
    """The project's folder: from a flag, else MARID_PROJECT_ROOT, else CHIBI_PROJECT_ROOT, else from version control.

    Raises: NotFound if the given one is not a folder.
    """
    named = given or environ.get("MARID_PROJECT_ROOT") or environ.get("CHIBI_PROJECT_ROOT")
    if not named:
        return find_project_root(cwd)
    folder = os.path.normpath(os.path.join(cwd, named))
    if not os.path.isdir(folder):
        raise NotFound(f"the project root '{quote_path(named)}' is not a folder")
    return folder


def find_project_root(folder: str) -> str:
    """The top of the project of `folder` (absolute); `folder` itself without a marker.

    CVS marks every folder, so there the highest one of an unbroken chain is the top, and only without another marker.
    """
    at, below = folder, ""
    while not any(_file_type(os.path.join(at, name)) in kinds for name, kinds in MARKERS):
        at, below = os.path.dirname(at), at
        if at == below:
            return _cvs_root(folder)
    return at


def _cvs_root(folder: str) -> str:
    while _is_in_cvs(folder) and _is_in_cvs(parent := os.path.dirname(folder)) and parent != folder:
        folder = parent
    return folder


def _is_in_cvs(folder: str) -> bool:
    return _file_type(os.path.join(folder, CVS)) == S_IFDIR


def _file_type(path: str) -> int:
    """The type of the file, links followed; 0 without one."""
    try:
        return S_IFMT(os.stat(path).st_mode)
    except OSError:
        return 0


def git_user_files(environ: Mapping[str, str]) -> UserGitFiles:
    """Where git looks for this user's configuration, as git's own documentation lists it."""
    home = user_home(environ)
    # Without a home these would be files of the working directory, which may be hostile.
    shared = environ.get("XDG_CONFIG_HOME") or (os.path.join(home, ".config") if home else "")
    system = () if environ.get("GIT_CONFIG_NOSYSTEM") else (environ.get("GIT_CONFIG_SYSTEM") or "/etc/gitconfig",)
    own = environ.get("GIT_CONFIG_GLOBAL")
    ours = (shared and os.path.join(shared, "git", "config"), home and os.path.join(home, ".gitconfig"))
    globals_ = (own,) if own else tuple(filter(None, ours))
    ignore = shared and os.path.join(shared, "git", "ignore")
    return UserGitFiles(configs=(*system, *globals_), excludes=ignore, home=home)


def completion_request(program: str) -> tuple[str, str] | None:
    """The name and value of the variable by which a shell asks for completions; None if it does not."""
    variable = f"_{program.upper()}_COMPLETE"
    return (variable, os.environ[variable]) if os.environ.get(variable) else None


def disable_pydantic_plugins() -> None:
    """Keep pydantic from searching all installed packages for plugins: we use none.

    Only in our own process: a program that uses marid as a library may have some.
    """
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


def wants_colour(environ: Mapping[str, str]) -> bool:
    """Whether to colour a terminal: not with NO_COLOR or a dumb terminal; with FORCE_COLOR always."""
    if environ.get("NO_COLOR"):
        return False
    return bool(environ.get("FORCE_COLOR")) or environ.get("TERM", "dumb") != "dumb"


def environment_key(provider: str, environ: Mapping[str, str]) -> str:
    """The key of a provider that a variable holds, or ""."""
    return next(filter(None, (environ.get(name) for name in _VARIABLES.get(provider, ()))), "")


def key_variable(provider: str) -> str:
    """The variable in which a provider's key is usually set, or ""."""
    return next(iter(_VARIABLES.get(provider, ())), "")


def provider_row(settings: Settings) -> Mapping[str, str]:
    """The address and the key of the default provider."""
    return {"base_url": settings.model.base_url, "api_key": settings.model.api_key}


def provider_secrets(settings: Settings, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Every key and password of a provider that is set anywhere."""
    found = [environ.get(name, "") for names in _VARIABLES.values() for name in names]
    for row in (provider_row(settings), *settings.model.providers.values()):
        found += [row.get("api_key", ""), _password(row.get("base_url", ""))]
    return tuple(dict.fromkeys(key for key in found if len(key) >= _MIN_KEY_LENGTH))


def _password(url: str) -> str:
    from urllib.parse import unquote  # imported when used: only a provider needs it

    login, at, _ = url.partition("://")[2].partition("/")[0].rpartition("@")
    return unquote(login.partition(":")[2]) if at else ""


def find_proxy(environ: Mapping[str, str], url: str) -> str:
    """The proxy for `url`, with its scheme; "" for none. This machine itself is never behind one."""
    from urllib.parse import urlsplit  # imported when used: only a provider needs it

    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    if _is_loopback(host) or any(
        _matches_no_proxy(entry.strip(), host, port) for entry in _proxy_variable(environ, "no").split(",")
    ):
        return ""
    found = _proxy_variable(environ, parts.scheme) or _proxy_variable(environ, "all")
    return found if "://" in found or not found else f"http://{found}"


def _proxy_variable(environ: Mapping[str, str], what: str) -> str:
    """A variable in small letters is the stronger, as elsewhere."""
    lower = f"{what}_proxy"
    if environ.get(lower):
        return environ[lower].strip()
    # A web server puts the header `Proxy` of a stranger's request under this name.
    if what == "http" and "REQUEST_METHOD" in environ:
        return ""
    return environ.get(lower.upper(), "").strip()


def _is_loopback(host: str) -> bool:
    from ipaddress import ip_address  # imported when used: only a provider needs it

    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _matches_no_proxy(entry: str, host: str, port: int) -> bool:
    """Whether an entry of NO_PROXY means this host: all, a name with what is below it, an address, a network."""
    if entry == "*":
        return True
    from ipaddress import ip_address, ip_network

    name, given = _split_port(entry)
    if given and given != str(port):
        return False
    try:
        return ip_address(host) in ip_network(name, strict=False)
    except ValueError:
        name = name.lower().lstrip("*").strip(".")
        return bool(name) and (host == name or host.endswith(f".{name}"))


def _split_port(entry: str) -> tuple[str, str]:
    """The host and the port, where there is one: addresses have colons of their own."""
    if entry.startswith("["):
        name, _, port = entry[1:].partition("]")
        return name, port.removeprefix(":")
    name, _, port = entry.rpartition(":")
    return (name, port) if port.isdigit() and name and ":" not in name else (entry, "")
