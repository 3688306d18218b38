"""Tables of the larger migrations, in parts; a migration creates them in this order."""
