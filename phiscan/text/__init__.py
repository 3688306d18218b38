"""Text primitives: offsets, chunks, passages, word tokens, escapes and linear automata."""
