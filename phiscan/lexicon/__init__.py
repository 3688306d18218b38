"""Word lists: dictionary files, the name and place gazetteer, words of organizations and of professional roles."""
