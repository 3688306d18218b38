"""PDF beside the page: appearances, attachments of pages, scripts, metadata, unused and earlier objects."""
