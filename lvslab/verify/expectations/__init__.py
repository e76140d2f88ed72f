"""One module per expectation: what must be true on the wire, and how a capture shows that it is not."""
