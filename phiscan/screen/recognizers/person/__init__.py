"""Names of people by label, form, context and repetition."""
