"""Deciding at the desk: once per form, about the content that was seen, and reversibly."""
