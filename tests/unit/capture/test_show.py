from __future__ import annotations

import subprocess
import sys

from scapy.layers.inet import IP, TCP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether

from lvslab.capture.show import show
from tests.unit.capture.frames import frame, raw


def test_every_field_is_shown() -> None:
    text = show(frame(Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / IP(dst="192.0.2.1") / TCP(dport=8080)))
    assert "192.0.2.1" in text
    assert "8080" in text or "http_alt" in text


def test_a_frame_without_link_header_is_shown_from_ip_on() -> None:
    assert show(raw(IPv6(dst="2001:db8::1"))).startswith("###[ IPv6 ]###")
    assert show(raw(IP())).startswith("###[ IP ]###")


def test_reading_and_walking_a_capture_does_not_load_scapy() -> None:
    program = "import sys, lvslab.walk, lvslab.capture.pcapng, lvslab.capture.show; print('scapy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "False"
