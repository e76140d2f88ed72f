"""Builds lvslab's own User-Mode Linux kernel from a distribution's source package."""
