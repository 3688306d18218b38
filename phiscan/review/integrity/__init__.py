"""Detection of changes of the database that the program did not make, and their exact location."""
