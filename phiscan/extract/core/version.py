"""The version of the readers, which results depend on."""

# Part of what decides whether a file is read again: raise it whenever the text of some format changes.
VERSION = "14"
