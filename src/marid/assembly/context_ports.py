"""What the assembler needs from outside. Each is made when it is first used, since most runs need none."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from marid.workspace.rules.ignore_files import UserGitFiles
from marid.workspace.walk import USER_ACCESS, FolderAccess

if TYPE_CHECKING:
    # Importing a module costs a quarter of a millisecond at every start; only the type checker wants these here.
    from marid.ports.cache import Cache
    from marid.ports.git import Clones, Git
    from marid.ports.job_pool import JobPool
    from marid.ports.outlines import Outlines


class ContextPorts(NamedTuple):
    """Ways to the outside, and what is known of the user.

    `clones` takes who hears that a copy may be old; `crew` is there only where forking is safe and pays; `access` opens
    the files, for a caller that is not the user through the guard.
    """

    git: "Callable[[], Git]"
    clones: "Callable[[Callable[[str], None]], Clones]"
    cache: "Callable[[], Cache]"
    outlines: "Callable[[], Outlines]"
    user_git_files: UserGitFiles
    settings_rules: tuple[str, ...] = ()
    crew: "Callable[[], JobPool] | None" = None
    access: FolderAccess = USER_ACCESS
