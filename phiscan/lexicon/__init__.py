"""Word lists: dictionary files, the gazetteer of names and places, words of organizations and roles."""
