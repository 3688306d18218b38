"""The net under the readers: what looks like text in the bytes of a content and is not in its text."""
