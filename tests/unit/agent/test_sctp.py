"""What a kernel lacks for SCTP, told by its symbols."""

from __future__ import annotations

import pytest

from lvslab.agent.sctp import lacking_in

IPVS = "0000000060321140 T ip_vs_in_hook\n"
SCHEDULES = "0000000060330210 t sctp_conn_schedule\n"
TRACKS = "0000000060310150 T nf_conntrack_sctp_packet\t[nf_conntrack]\n"


@pytest.mark.parametrize(
    ("symbols", "tracked", "lacking"),
    [
        (IPVS + SCHEDULES + TRACKS, True, ""),
        (IPVS + SCHEDULES, False, ""),
        (IPVS + SCHEDULES, True, "SCTP in its connection tracking (CONFIG_NF_CT_PROTO_SCTP)"),
        (IPVS + TRACKS, True, "SCTP in its IPVS (CONFIG_IP_VS_PROTO_SCTP)"),
        (IPVS, False, "SCTP in its IPVS (CONFIG_IP_VS_PROTO_SCTP)"),
        ("", True, ""),
    ],
)
def test_what_is_lacking_is_named_as_in_the_configuration(symbols: str, tracked: bool, lacking: str) -> None:
    assert lacking_in(symbols, tracked=tracked) == lacking
