"""The manifest is one that Kubernetes takes, asks for no privilege, and shares the submissions out without a gap."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
from ruamel.yaml import YAML

from lvslab.errors import BadInput
from lvslab.labs.share import Share, parse_share

MANIFEST = Path(__file__).parents[3] / "deploy" / "grading-job.yaml"


@pytest.fixture
def manifest() -> Any:
    return YAML(typ="safe").load(MANIFEST.read_text())


@pytest.mark.parametrize("version", ["1.33", "1.37"])
def test_kubernetes_own_schema_takes_it(manifest: Any, version: str) -> None:
    kubernetes_validate.validate(manifest, version, strict=True)


def test_the_schema_would_refuse_a_misspelt_key(manifest: Any) -> None:
    manifest["spec"]["completion"] = manifest["spec"].pop("completions")
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(manifest, "1.33", strict=True)


def test_it_asks_for_no_privilege(manifest: Any) -> None:
    """What the Pod Security Standards call restricted."""
    pod = manifest["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert not pod.keys() & {"hostNetwork", "hostPID", "hostIPC", "initContainers"}
    (container,) = pod["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    kinds = {key for volume in pod["volumes"] for key in volume if key != "name"}
    assert kinds == {"persistentVolumeClaim", "secret", "emptyDir"}


def test_there_are_as_many_shares_as_completions(manifest: Any) -> None:
    (container,) = manifest["spec"]["template"]["spec"]["containers"]
    (shares,) = [each["value"] for each in container["env"] if each["name"] == "SHARES"]
    assert manifest["spec"]["completionMode"] == "Indexed"
    assert int(shares) == manifest["spec"]["completions"]


@pytest.mark.parametrize(("of", "items"), [(1, 5), (3, 7), (4, 4), (20, 3)])
def test_shares_are_the_whole_and_share_nothing(of: int, items: int) -> None:
    picked = [parse_share(f"{index}/{of}").pick(range(items)) for index in range(of)]
    assert sorted(item for share in picked for item in share) == list(range(items))
    assert max(map(len, picked)) - min(map(len, picked)) <= 1


@pytest.mark.parametrize("text", ["", "1", "1/", "/2", "2/2", "-1/2", "0/0", "1/2/3", "a/b"])
def test_what_is_no_share_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="--share: no share: expected INDEX/COUNT"):
        parse_share(text)


def test_a_share_is_written_as_the_index_and_the_count() -> None:
    assert parse_share("19/20") == Share(19, 20)
