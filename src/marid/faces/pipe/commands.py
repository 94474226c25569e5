"""Every command, by the name it has in the input."""

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType

from marid.faces.pipe import keeping, rounds
from marid.faces.pipe.session import JsonSession

SYNC_COMMANDS: Mapping[str, Callable[[JsonSession], None]] = MappingProxyType(
    {
        one.__name__: one
        for one in (
            keeping.list_contexts,
            keeping.list_current_context,
            keeping.destroy_context,
            keeping.archive_history,
            keeping.rename_context,
            keeping.show_log,
            keeping.inspect,
            keeping.set_system_prompt,
            keeping.show_help,
            keeping.show_version,
            keeping.no_op,
        )
    }
)
ASYNC_COMMANDS: Mapping[str, Callable[[JsonSession], Awaitable[None]]] = MappingProxyType(
    {
        one.__name__: one
        for one in (
            rounds.send_prompt,
            rounds.call_tool,
            rounds.check_inbox,
            rounds.check_all_inboxes,
            rounds.set_model,
            rounds.model_metadata,
        )
    }
)
