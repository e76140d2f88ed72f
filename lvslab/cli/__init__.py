"""The `lvslab` command: one module per verb, nothing but argument parsing and calls."""
