"""Every setting: values, schema, validation, how a person sees them."""
