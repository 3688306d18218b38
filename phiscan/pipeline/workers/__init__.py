"""Worker processes of a scan: fetching files, handing them over, examining them."""
