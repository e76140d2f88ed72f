"""What a test has captured so far, kept until it is known whether it fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING

from lvslab.walk.phrases import Language
from lvslab.walk.select import connections, opening

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import RenderableType

    from lvslab.lab import Examination
    from lvslab.verify.evidence import Evidence
    from lvslab.walk.model import Conversation, Walk

COLUMNS = 100


@dataclass(frozen=True, slots=True)
class Seen:
    """One recording."""

    title: str
    where: str
    """The kernel and the backend."""
    evidence: Evidence
    conversation: Conversation | None = None
    """Whose walk to show; without one, the first."""
    arp: tuple[Walk, ...] = ()
    examination: Examination | None = None

    def text(self) -> str:
        """Return what the packets did, hop by hop, or what was judged of them: plain text."""
        from lvslab.report.terminal import make_console

        out = StringIO()
        console = make_console(out)
        console.width = COLUMNS
        console.print(self._rendered())
        return "\n".join(line.rstrip() for line in out.getvalue().rstrip().splitlines())

    def _rendered(self) -> RenderableType:
        from lvslab.report.terminal import render
        from lvslab.report.walk_terminal import render_walks

        if self.examination is not None:
            return render([self.examination.result], verbose=False)
        first = self.conversation or next(iter(connections(self.evidence.walks)), None)
        shown: Conversation | Sequence[Walk] = () if first is None or self.arp else opening(first)
        return render_walks(shown, names=self.evidence.walks.names, arp=self.arp)

    def page(self) -> bytes:
        """Return the same for a browser, all connections in it."""
        from lvslab.report.html import verify_page, walk_page

        if self.examination is not None:
            return verify_page([self.examination], language=Language.ENGLISH)
        return walk_page(self.evidence.walks, self.evidence, language=Language.ENGLISH, kernel=self.where)

    def write(self, path: Path) -> None:
        """Write the capture, for Wireshark and ``lvslab walk --from``."""
        from lvslab.capture.pcapng import write_capture
        from lvslab.lab import name_records

        write_capture(path, self.evidence.capture, names=name_records(self.evidence.topology))
