"""Mail transport: undecoded runs in texts, sloppy encodings, TNEF, CMS (S/MIME) and OpenPGP wrappers."""
