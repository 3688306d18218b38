"""Text primitives: offsets, chunks, passages, word tokens, escapes and linear automata, shared by every reader of text."""
