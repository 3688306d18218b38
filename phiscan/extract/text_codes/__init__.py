"""Text written in codes within a text: percent-encoding, escapes, dumps of bytes, base64, base85, RTF in a field."""
