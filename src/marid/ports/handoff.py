"""Who has the word next, for the tools by which a model decides that."""

from typing import Protocol


class Handoff(Protocol):
    """Only a round of a conversation has one; what was decided is read from the history."""

    def hand_to_user(self, message: str) -> str:
        """The round ends now, with these words to the user. What the model is told."""
        ...

    def hand_to_agent(self, prompt: str) -> str:
        """After its next words the model goes on, with this prompt. What the model is told."""
        ...
