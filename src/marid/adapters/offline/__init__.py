"""The model that answers without a model: search the project, quote what it found."""
