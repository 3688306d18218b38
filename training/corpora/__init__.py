"""Training texts: a generator of documents, marked everyday texts, openly licensed texts with surrogates."""
