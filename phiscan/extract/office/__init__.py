"""Word processing and presentation formats, and the containers that office documents use."""
