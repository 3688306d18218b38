"""Parts of compound files (OLE) beside the text: macros, embedded storages, texts that a person typed."""
