"""The organization's own patients: a keyed index of a patient list, and its matches in documents."""
