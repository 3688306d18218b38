"""``phiscan patients``: the keyed index of the organization's own patients, and searches in it."""
