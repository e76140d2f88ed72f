"""Clusters in pytest tests: the fixture `lvs_lab`, the marker `lvs`, and assertions about what the packets did.

Loaded by pytest wherever lvslab is installed, so :mod:`lvslab.testing.plugin` imports nothing of weight.
"""
