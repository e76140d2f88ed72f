"""What a failed test leaves: the last walk in its report, every capture with a page for the browser in a folder."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from lvslab.report.printable import printable

if TYPE_CHECKING:
    import pytest

    from lvslab.testing.seen import Seen

_LONGEST_NAME = 100
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.=-]+")


def describe(item: pytest.Item, report: pytest.TestReport, seen: Sequence[Seen], folder: Path) -> None:
    """Keep what was captured, and say in the report what the packets did and where that lies."""
    if not seen:
        return
    last = seen[-1]
    paths, trouble = _keep(report.nodeid, seen, folder)
    kept = [f"kept: {path}" for path in paths] + [f"not kept: {trouble}"] * bool(trouble)
    _add_section(report, f"lvslab: {last.title} ({last.where})", "\n".join((last.text(), "", *kept)))
    if paths:
        # Comes with the report of the teardown: in JUnit's system-out, where GitLab and Jenkins look for attachments.
        item.add_report_section("call", "stdout", "".join(f"[[ATTACHMENT|{path}]]\n" for path in paths))
    item.user_properties += [(f"lvs_{path.suffix[1:]}", str(path)) for path in paths]


def forget(nodeid: str, folder: Path) -> None:
    """Remove what an earlier run of the test kept."""
    for path in folder.glob(f"{file_name(nodeid)}*"):
        path.unlink(missing_ok=True)


def _keep(nodeid: str, seen: Sequence[Seen], folder: Path) -> tuple[list[Path], str]:
    """Write all captures and pages; return their paths, relative where they are below, and what went wrong."""
    paths: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number, each in enumerate(seen, 1):
            stem = folder / (file_name(nodeid) + f"-{number}" * (len(seen) > 1))
            each.write(stem.with_name(f"{stem.name}.pcapng"))
            stem.with_name(f"{stem.name}.html").write_bytes(each.page())
            paths += [_shown(stem.with_name(f"{stem.name}.{suffix}")) for suffix in ("pcapng", "html")]
    except OSError as error:
        return paths, f"{error.filename or folder}: {error.strerror}"
    return paths, ""


def _shown(path: Path) -> Path:
    """Return the path from here: CI servers take attachments from below the project."""
    relative = Path(os.path.relpath(path))
    return path if relative.parts[0] == ".." else relative


def file_name(nodeid: str) -> str:
    """Return a name for the files of a test: readable, and no other test's."""
    plain = _NOT_IN_NAMES.sub("-", nodeid).strip("-")[-_LONGEST_NAME:]
    return f"{plain}-{sha256(nodeid.encode()).hexdigest()[:6]}"


def _add_section(report: pytest.TestReport, title: str, text: str) -> None:
    """Add to the account of the failure itself, which JUnit files hold as well, where pytest made one."""
    add = getattr(report.longrepr, "addsection", None)
    if add is not None:
        add(printable(title), printable(text))
    else:
        report.longrepr = f"{report.longrepr}\n\n{printable(title)}\n{printable(text)}"
