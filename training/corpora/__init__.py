"""Training texts: generated documents, marked everyday texts, openly licensed texts with surrogates."""
