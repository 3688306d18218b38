"""Tables of the larger migrations, in parts; a migration makes them in this order."""
