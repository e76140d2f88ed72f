"""The same packet, joined hop by hop; what changed at each hop, in words."""

from lvslab.walk.find import find_walks

__all__ = ["find_walks"]
