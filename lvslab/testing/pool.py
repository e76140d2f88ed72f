"""The kernels of one test process, each booted when it is first needed, and the cluster that is up in each."""

from __future__ import annotations

import os
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from lvslab.errors import CannotRun, KernelFault
from lvslab.kernels.choose import UML, UP_TIMEOUT_S, VARIABLE, split
from lvslab.kernels.images import find_image
from lvslab.lab import open_kernel, running_lab
from lvslab.sandbox.backends import need_backend

if TYPE_CHECKING:
    from lvslab.kernels.start import RunningKernel
    from lvslab.lab import Lab
    from lvslab.testing.marker import KernelOrder, Order


@dataclass(slots=True)
class _Booted:
    """A kernel that is up, and the one cluster in it: nodes of two clusters would have the same names."""

    kernel: RunningKernel
    ending: ExitStack
    building: ExitStack = field(default_factory=ExitStack)
    built: tuple[Path, Order] | None = None
    lab: Lab | None = None

    def build(self, order: Order, module: Path) -> Lab:
        self.remove()
        self.lab = self.building.enter_context(running_lab(self.kernel, order.load(), backend=order.backend))
        self.built = (module, order)
        return self.lab

    def remove(self) -> None:
        self.built = self.lab = None
        self.building.close()


class Pool:
    """Hands out clusters; its kernels end with it."""

    def __init__(self) -> None:
        self._booted: dict[KernelOrder, _Booted] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for on in tuple(self._booted):
            self._end(on)

    def lab(self, order: Order, *, module: Path) -> Lab:
        """Return the cluster of the module's tests that say the same, or a new one.

        Raises BadInput for a bad topology, kernel or backend, CannotRun if this machine cannot run it, KernelFault.
        """
        order.load()
        need_backend(order.backend)
        booted = self._booted.get(order.on) or self._boot(order.on)
        if booted.lab is not None and booted.built == (module, order) and not order.fresh:
            return booted.lab
        try:
            return booted.build(order, module)
        except KernelFault:
            self._end(order.on)
            raise

    def drop_lab(self, order: Order) -> None:
        """Take a cluster down. Raises KernelFault."""
        self._booted[order.on].remove()

    def drop_kernel(self, order: Order) -> None:
        """End a kernel that may be broken; whoever needs it next gets a new one."""
        self._end(order.on)

    def _boot(self, on: KernelOrder) -> _Booted:
        _check_present(on.kernel)
        with ExitStack() as stack:
            kernel = stack.enter_context(
                open_kernel(on.kernel, name="test", memory_mib=on.memory_mib, virtual_time=on.virtual_time)
            )
            kernel.wait_until_up(UP_TIMEOUT_S)
            self._booted[on] = _Booted(kernel, stack.pop_all())
        return self._booted[on]

    def _end(self, on: KernelOrder) -> None:
        booted = self._booted.pop(on)
        with booted.ending, suppress(KernelFault):
            # With the kernel all that is in it goes, whether or not it still answers.
            booted.remove()


def _check_present(kernel: str | None) -> None:
    """Tell a kernel that is not here from one that there cannot be: tests are written for more machines than this."""
    name = kernel or os.environ.get(VARIABLE, "")
    kind, release = split(name)
    if kind == UML and release and find_image(release) is None:
        raise CannotRun("this kernel is not here", where=name, next_step="lvslab kernel list shows which are")
