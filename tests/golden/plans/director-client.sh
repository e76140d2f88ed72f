#!/bin/sh
# lvslab: topology director-client
set -e
modprobe -a ipv6 veth bridge ip_vs ip_vs_rr
ip netns add sw-inside
ip netns add director
ip netns add rs1
ip netns add rs2
ip netns exec sw-inside sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec sw-inside sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec director sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec director sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec rs1 sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec rs1 sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec rs2 sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec rs2 sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip -n sw-inside link add br0 type bridge forward_delay 0 stp_state 0 mcast_snooping 0
ip -n sw-inside link set br0 up
ip -n sw-inside link add director type veth peer name eth0 address 02:00:00:00:01:00 netns director
ip -n sw-inside link set director master br0 up
ip -n sw-inside link add rs1 type veth peer name eth0 address 02:00:00:00:02:00 netns rs1
ip -n sw-inside link set rs1 master br0 up
ip -n sw-inside link add rs2 type veth peer name eth0 address 02:00:00:00:03:00 netns rs2
ip -n sw-inside link set rs2 master br0 up
ip netns exec director ethtool -K eth0 tx off >/dev/null
ip netns exec rs1 ethtool -K eth0 tx off >/dev/null
ip netns exec rs2 ethtool -K eth0 tx off >/dev/null
ip -n director link set lo up
ip -n director link set eth0 up
ip -n rs1 link set lo up
ip -n rs1 link set eth0 up
ip -n rs2 link set lo up
ip -n rs2 link set eth0 up
ip -n director addr add 198.18.0.2/23 dev eth0
ip -n rs1 addr add 198.18.0.11/23 dev eth0
ip -n rs2 addr add 198.18.0.12/23 dev eth0
ip -n director addr add 198.18.0.10/32 dev eth0
ip -n rs1 addr add 198.18.0.10/32 dev lo
ip -n rs2 addr add 198.18.0.10/32 dev lo
ip netns exec director sysctl -q -w net.ipv4.conf.all.accept_local=1
ip netns exec rs1 sysctl -q -w net.ipv4.conf.all.arp_ignore=1
ip netns exec rs1 sysctl -q -w net.ipv4.conf.all.arp_announce=2
ip netns exec rs1 sysctl -q -w net.ipv4.tcp_synack_retries=0
ip netns exec rs2 sysctl -q -w net.ipv4.conf.all.arp_ignore=1
ip netns exec rs2 sysctl -q -w net.ipv4.conf.all.arp_announce=2
ip netns exec rs2 sysctl -q -w net.ipv4.tcp_synack_retries=0
ip netns exec director ipvsadm -A -t 198.18.0.10:80 -s rr
ip netns exec director ipvsadm -a -t 198.18.0.10:80 -r 198.18.0.11:80 -g -w 1
ip netns exec director ipvsadm -a -t 198.18.0.10:80 -r 198.18.0.12:80 -g -w 1
# rs1: any http server on port 80 will do; lvslab's is built in
# rs2: any http server on port 80 will do; lvslab's is built in
