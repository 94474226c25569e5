"""Who has the word next. Nothing is kept here: the calls stand in the history, and the round reads them there."""

from marid.ports.handoff import Handoff


class RoundHandoff(Handoff):
    """Tells the model what its call means."""

    def hand_to_user(self, message: str) -> str:
        """As in the port."""
        return "The round ends here, with your message to the user." if message else "The round ends here."

    def hand_to_agent(self, prompt: str) -> str:
        """As in the port."""
        del prompt
        return "You go on after your next words, with the prompt that you gave."
