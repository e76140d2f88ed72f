"""The last lines of `lvslab lab lint` and `test` count one as one, and several as several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from lvslab.cli.main import main
from lvslab.labs import trial
from lvslab.labs.scaffold import new_lab
from lvslab.labs.trial import Trial
from lvslab.verify.result import Verdict


def last_line(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    with pytest.raises(SystemExit):
        main(["lab", *argv])
    return capsys.readouterr().out.splitlines()[-1]


def test_lint_counts_labs_and_faults(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "14-other"
    new_lab(other)
    assert last_line(capsys, "lint", str(folder)) == "1 lab, no faults"
    assert last_line(capsys, "lint", str(folder), str(other)) == "2 labs, no faults"
    for name, said in (("service", "1 fault"), ("source-at-server", "2 faults")):
        (other / f"solution/{name}.console").unlink()
        assert last_line(capsys, "lint", str(other)) == f"1 lab, {said}"


@pytest.mark.parametrize(("names", "said"), [(["untouched"], "1 lab, 1 proof: pass"), ("ab", "1 lab, 2 proofs: pass")])
def test_test_counts_labs_and_proofs(
    folder: Path, names: Sequence[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def tried(*_: object, **__: object) -> Iterator[Trial]:
        yield from (Trial("13-mine", "", name, Verdict.PASS, "") for name in names)

    monkeypatch.setattr(trial, "try_labs", tried)
    assert last_line(capsys, "test", str(folder)) == said
