"""Every command, by the name it has in the input."""

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType

from marid.faces.pipe import conversation_commands, round_commands
from marid.faces.pipe.session import JsonSession

SYNC_COMMANDS: Mapping[str, Callable[[JsonSession], None]] = MappingProxyType(
    {
        one.__name__: one
        for one in (
            conversation_commands.list_contexts,
            conversation_commands.list_current_context,
            conversation_commands.destroy_context,
            conversation_commands.archive_history,
            conversation_commands.rename_context,
            conversation_commands.show_log,
            conversation_commands.inspect,
            conversation_commands.set_system_prompt,
            conversation_commands.show_help,
            conversation_commands.show_version,
            conversation_commands.no_op,
        )
    }
)
ASYNC_COMMANDS: Mapping[str, Callable[[JsonSession], Awaitable[None]]] = MappingProxyType(
    {
        one.__name__: one
        for one in (
            round_commands.send_prompt,
            round_commands.call_tool,
            round_commands.check_inbox,
            round_commands.check_all_inboxes,
            round_commands.set_model,
            round_commands.model_metadata,
        )
    }
)
