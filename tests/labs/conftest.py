"""The labs' own tests use the kernel fixtures, and progress in a folder of the test's."""

from __future__ import annotations

from tests.kernel.conftest import kernel_kind, labs_home

__all__ = ["kernel_kind", "labs_home"]
