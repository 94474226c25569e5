"""Port for the tools by which a model ends its turn or goes on."""

from typing import Protocol


class Handoff(Protocol):
    """Exists in rounds only. The decision itself is read from the history."""

    def hand_to_user(self, message: str) -> str:
        """End the round with this message to the user. Returns the result for the model."""
        ...

    def hand_to_agent(self, prompt: str) -> str:
        """Let the model go on with this prompt after its reply. Returns the result for the model."""
        ...
