"""Office documents and drawings that are one XML file: Word and Excel 2003, flat OpenDocument, SVG."""
