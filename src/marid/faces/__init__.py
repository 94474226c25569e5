"""Ways in. Each turns a wire into App verbs and back."""
