"""A round on the terminal: read the prompt, ask the person, show the answer."""
