"""Captures as pcapng files: what is written reads back as the same capture."""

from lvslab.capture.pcapng_reader import read_capture
from lvslab.capture.pcapng_writer import write_capture

__all__ = ["read_capture", "write_capture"]
