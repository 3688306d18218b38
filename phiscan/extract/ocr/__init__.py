"""Pictures: optical character recognition, layout, metadata and metafiles."""
