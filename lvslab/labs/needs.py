"""What a lab needs of the machine, looked for before it begins."""

from __future__ import annotations

import os
import shutil

from lvslab.errors import CannotRun
from lvslab.kernels.images import find_image
from lvslab.labs.model import GuidedLab

_SYSTEM_FOLDERS = "/usr/local/sbin:/usr/sbin:/sbin"
"""Where an ordinary user's PATH misses ipvsadm and its like; nodes have them."""


def require_programs(guided: GuidedLab) -> None:
    """Raise CannotRun, naming all, if programs that the lab has students type are not there."""
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), _SYSTEM_FOLDERS))
    missing = [program for program in guided.needs.programs if shutil.which(program, path=path) is None]
    if missing:
        raise CannotRun(
            "programs that this lab uses are missing",
            where=guided.id,
            found=f"no {', no '.join(missing)}",
            next_step="install them, then start the lab again",
        )


def require_schedulers(guided: GuidedLab, kernel: str, release: str) -> None:
    """Raise CannotRun if a User-Mode Linux kernel is known to lack a scheduler."""
    image = find_image(release) if kernel == "uml" else None
    if image is None or not image.schedulers:
        return
    missing = [name for name in guided.needs.schedulers if name not in image.schedulers]
    if missing:
        raise CannotRun(
            "this kernel lacks schedulers that the lab uses",
            where=f"{kernel} {release}",
            expected=", ".join(guided.needs.schedulers),
            found=f"no {', no '.join(missing)}",
            next_step="choose another --kernel (lvslab kernel list), or build one: lvslab kernel build",
        )
