"""Groups of files that say nearly the same, from their signatures; a group is decided once."""
