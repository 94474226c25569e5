"""The command line itself: flags, help, completion. Below `operations`, `chat` and `commands`."""
