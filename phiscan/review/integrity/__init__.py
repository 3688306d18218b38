"""How a change of the database after the program's back is found, and what exactly was changed."""
