"""Text written in codes within a text: percent-encoding, escapes, dumps of bytes, base64, RTF in a field."""
