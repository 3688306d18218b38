"""JSON, XML, HTML, EPUB, HL7 and X12 messages, DICOM and plain text."""
