"""The keywords of keepalived.conf(5), by the block they stand in."""

from __future__ import annotations

from typing import Final

CHECKERS: Final = (
    "HTTP_GET",
    "SSL_GET",
    "TCP_CHECK",
    "SMTP_CHECK",
    "DNS_CHECK",
    "MISC_CHECK",
    "BFD_CHECK",
    "UDP_CHECK",
    "PING_CHECK",
    "FILE_CHECK",
)
_CHECKING: Final = (
    "alpha",
    "connect_timeout",
    "delay_before_retry",
    "delay_loop",
    "inhibit_on_failure",
    "retry",
    "smtp_alert",
    "snmp_name",
    "virtualhost",
    "warmup",
)
"""When and how servers are checked: no part of the table."""

SCHEDULER_FLAGS: Final = ("flag-1", "flag-2", "flag-3", "sh-port", "sh-fallback", "mh-port", "mh-fallback")
SERVICE: Final = (
    *("lvs_sched", "lb_algo", "lvs_method", "lb_kind", "protocol", "ip_family", "ops", "hashed", *SCHEDULER_FLAGS),
    *("persistence_engine", "persistence_timeout", "persistence_granularity"),
    *("real_server", "sorry_server", "sorry_server_inhibit", "sorry_server_lvs_method"),
    *("ha_suspend", "omega", "quorum", "quorum_up", "quorum_down", "hysteresis", "nat_mask", *_CHECKING),
)
SERVER: Final = (
    *("weight", "lvs_method", "uthreshold", "lthreshold", "notify_up", "notify_down"),
    *(*_CHECKING, *CHECKERS),
)
VRRP_ADDRESSES: Final = ("virtual_ipaddress", "virtual_ipaddress_excluded")

LEFT_OUT: Final = (
    *("global_defs", "net_namespace", "net_namespace_ipvs", "namespace_with_ipsets", "instance", "use_pid_dir"),
    *("linkbeat_use_polling", "linkbeat_interfaces", "interface_up_down_delays", "garp_group", "SSL", "bfd_instance"),
    *("static_ipaddress", "static_routes", "static_rules", "static_track_group", "track_file", "vrrp_track_file"),
    *("vrrp_script", "vrrp_sync_group", "vrrp_track_process", "config_save_dir", "notify_fifo", "random_seed"),
)
INCLUDES: Final = ("include", "includer", "includem", "includew", "includeb", "includea")
TOP_LEVEL: Final = ("virtual_server", "virtual_server_group", "vrrp_instance", *LEFT_OUT, *INCLUDES)
