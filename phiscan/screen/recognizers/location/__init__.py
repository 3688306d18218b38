"""Places and addresses by gazetteer, cue and layout."""
