"""Reading and writing of annotated documents: JSON lines, brat, i2b2 XML."""
