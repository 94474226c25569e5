"""The port Model over the network. Only this package knows the gateway library, imported when a model is asked."""
