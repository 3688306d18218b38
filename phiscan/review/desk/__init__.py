"""The services that the pages of the desk call, each over one database."""
