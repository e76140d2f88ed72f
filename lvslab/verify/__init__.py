"""Expectations per forwarding method, and what becomes of them when judged against a capture."""
