"""Annotated documents as files: JSON lines, brat, i2b2 XML."""
