"""The pytest plugin (entry point `pytest11`): options, the marker `lvs`, the fixture `lvs_lab`, what failures show.

pytest loads it in every project of an environment that has lvslab. All else is imported when a test uses `lvs_lab`.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lvslab.errors import CannotRun, KernelFault, LvslabError

if TYPE_CHECKING:
    from lvslab.testing.lab import LabUnderTest
    from lvslab.testing.pool import Pool

REQUIRED, KEEP = "--lvs-required", "--lvs-keep"
LAB = pytest.StashKey["LabUnderTest"]()
FAULT = pytest.StashKey[bool]()
MARKER = (
    "lvs(topology=NAME_OR_FILE, kernel=…, backend=…, without=…, set={…}, virtual_time=…, memory_mib=…, fresh=…): "
    "the cluster that the fixture lvs_lab builds for the test"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("lvslab", "Linux Virtual Server clusters")
    group.addoption(REQUIRED, action="store_true", help="fail, instead of skip, tests that this machine cannot run")
    group.addoption(
        KEEP,
        metavar="DIR",
        default="lvs-failures",
        help="folder for the captures (pcapng) and pages (HTML) of failed tests; default: %(default)s",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)


@pytest.fixture(scope="session")
def _lvs_pool() -> Iterator[Pool]:
    """The kernels of this process: with pytest-xdist, of this worker."""
    from lvslab.testing.pool import Pool

    with Pool() as pool:
        yield pool


@pytest.fixture
def lvs_lab(request: pytest.FixtureRequest, _lvs_pool: Pool) -> Iterator[LabUnderTest]:
    """The cluster that the marker `lvs` describes, running in a real kernel.

    Tests of one module whose markers say the same share it.
    """
    from lvslab.testing.failure import forget
    from lvslab.testing.lab import LabUnderTest
    from lvslab.testing.marker import order_of

    item = request.node
    forget(item.nodeid, _folder(item))
    try:
        order = order_of(item.iter_markers("lvs"), item.path.parent)
        lab = LabUnderTest(_lvs_pool.lab(order, module=item.path))
    except LvslabError as error:
        raise _no_lab(error, required=request.config.getoption(REQUIRED)) from None
    item.stash[LAB] = lab
    item.user_properties.append(("lvs_kernel", lab.where))
    yield lab
    lab.seen.clear()  # pytest keeps the item, and with it the lab, to the end
    if item.stash.get(FAULT, False):
        _lvs_pool.drop_kernel(order)
    elif order.fresh:
        with suppress(KernelFault):
            _lvs_pool.drop_lab(order)


def _no_lab(error: LvslabError, *, required: bool) -> BaseException:
    """Return what ends the test before it has begun: a skip if only the machine is to blame."""
    if isinstance(error, CannotRun) and not required:
        return pytest.skip.Exception(str(error), _use_item_location=True)
    return pytest.fail.Exception(str(error), pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    lab = item.stash.get(LAB, None)
    if lab is not None and report.failed and call.excinfo is not None and report.when != "teardown":
        from lvslab.testing.failure import describe

        error = call.excinfo.value
        item.stash[FAULT] = isinstance(error, CannotRun | KernelFault)
        if isinstance(error, LvslabError):
            # pytest calls an error what fails before the test begins: this is no finding of the test's either.
            report.when = "setup"
            report.longrepr = f"{_line(item, call.excinfo)}: {error}"
        describe(item, report, lab.seen, _folder(item))
    return report


def _line(item: pytest.Item, raised: pytest.ExceptionInfo[BaseException]) -> str:
    """Return the place in the test's own file where it came to an error."""
    lines = [entry.lineno + 1 for entry in raised.traceback if entry.path == item.path]
    return ":".join([item.location[0], *map(str, lines[-1:])])


def _folder(item: pytest.Item) -> Path:
    """Return where captures of failed tests are kept."""
    return item.config.invocation_params.dir / str(item.config.getoption(KEEP))
