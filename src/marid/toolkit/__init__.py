"""What a tool is and how any tool is called."""
