"""Ways in. Each turns a wire into RequestScope verbs and back."""
