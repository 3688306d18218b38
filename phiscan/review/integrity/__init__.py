"""How a change of the database behind the program's back is found, and what exactly was changed."""
