"""The ports of the assembler, made at their first use, since most runs need none."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from marid.workspace.rules.ignore_files import UserGitFiles
from marid.workspace.walk import USER_ACCESS, FolderAccess

if TYPE_CHECKING:
    # Importing a module takes a quarter of a millisecond at every start.
    from marid.ports.cache import Cache
    from marid.ports.git import Clones, Git
    from marid.ports.job_pool import JobPool
    from marid.ports.outlines import Outlines


class ContextPorts(NamedTuple):
    """The ports, and settings of the user. `clones` takes a callback for warnings; without `job_pool` nothing forks.

    `access` opens the files; for a caller that is not the user, through the guard.
    """

    git: "Callable[[], Git]"
    clones: "Callable[[Callable[[str], None]], Clones]"
    cache: "Callable[[], Cache]"
    outlines: "Callable[[], Outlines]"
    user_git_files: UserGitFiles
    settings_rules: tuple[str, ...] = ()
    job_pool: "Callable[[], JobPool] | None" = None
    access: FolderAccess = USER_ACCESS
