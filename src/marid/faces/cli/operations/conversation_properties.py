"""Show and change the prompt, notes and settings of one conversation. Flags and commands call the same functions."""

import os
from collections.abc import Mapping

from marid.app import conversation_settings
from marid.app.app import RequestScope
from marid.app.inspection import inspect
from marid.core.settings.schema import find_setting
from marid.core.settings.view import printable_value
from marid.faces.cli.operations.conversation_views import print_json
from marid.faces.cli.view.console import print_note, print_untrusted, replace_invalid_bytes


def show_inspection(scope: RequestScope, name: str, thing: str, *, as_json: bool = False) -> None:
    """Show one thing of a conversation. Raises: BadInput for an unknown thing."""
    content = inspect(scope, name, thing)
    if as_json:
        print_json({"conversation": name, "thing": thing, "content": content})
    else:
        print_untrusted(content)


def set_model(scope: RequestScope, name: str, model: str) -> None:
    """Use a model, if its provider has it."""
    import anyio  # imported when used: only a provider is asked asynchronously

    print_note(f"'{name}' uses {anyio.run(conversation_settings.set_model, scope, name, model)}")


def set_username(scope: RequestScope, name: str, username: str) -> None:
    """Set the user's name."""
    username = replace_invalid_bytes(username)
    conversation_settings.set_username(scope, name, username)
    print_note(f"your name in '{name}' is '{username}'")


def set_system_prompt(scope: RequestScope, name: str, text_or_path: str) -> None:
    """Set the system prompt: the content of a file if there is one of that name, else the text itself."""
    is_path = os.path.lexists(os.path.join(scope.cwd, text_or_path))
    text = text_or_path if is_path else replace_invalid_bytes(text_or_path)
    has_own = conversation_settings.set_system_prompt(scope, name, text)
    print_note(f"'{name}' has {'its own' if has_own else 'the default'} system prompt")


def set_values(scope: RequestScope, name: str, values: Mapping[str, object]) -> None:
    """Set settings in the conversation's local.toml; None removes one."""
    conversation_settings.set_conversation_settings(scope, name, values)
    for key, value in values.items():
        shown = "the default" if value is None else printable_value(find_setting(key), value)
        print_note(f"{key} is {shown} in '{name}'")
