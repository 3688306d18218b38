"""PDF beside the page: appearance streams, attachments of pages, scripts, metadata, unused and earlier objects."""
