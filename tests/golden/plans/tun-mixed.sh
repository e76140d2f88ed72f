#!/bin/sh
# lvslab: topology tun-mixed
set -e
modprobe -a ipv6 veth bridge ip_vs ip_vs_rr ip6_tunnel
ip netns add sw-outside
ip netns add sw-servers
ip netns add client
ip netns add director
ip netns add router
ip netns add rs1
ip netns add rs2
ip netns exec sw-outside sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec sw-outside sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec sw-servers sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec sw-servers sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec client sysctl -q -w net.ipv6.conf.default.accept_dad=0
ip netns exec client sysctl -q -w net.ipv6.conf.default.addr_gen_mode=1
ip netns exec director sysctl -q -w net.ipv6.conf.default.accept_dad=0
ip netns exec director sysctl -q -w net.ipv6.conf.default.addr_gen_mode=1
ip netns exec router sysctl -q -w net.ipv6.conf.default.accept_dad=0
ip netns exec router sysctl -q -w net.ipv6.conf.default.addr_gen_mode=1
ip netns exec rs1 sysctl -q -w net.ipv6.conf.default.accept_dad=0
ip netns exec rs1 sysctl -q -w net.ipv6.conf.default.addr_gen_mode=1
ip netns exec rs2 sysctl -q -w net.ipv6.conf.default.accept_dad=0
ip netns exec rs2 sysctl -q -w net.ipv6.conf.default.addr_gen_mode=1
ip -n sw-outside link add br0 type bridge forward_delay 0 stp_state 0 mcast_snooping 0
ip -n sw-outside link set br0 up
ip -n sw-servers link add br0 type bridge forward_delay 0 stp_state 0 mcast_snooping 0
ip -n sw-servers link set br0 up
ip -n sw-outside link add client type veth peer name eth0 address 02:00:00:00:01:00 netns client
ip -n sw-outside link set client master br0 up
ip -n sw-outside link add director type veth peer name eth0 address 02:00:00:00:02:00 netns director
ip -n sw-outside link set director master br0 up
ip -n sw-outside link add router type veth peer name eth0 address 02:00:00:00:03:00 netns router
ip -n sw-outside link set router master br0 up
ip -n sw-servers link add router type veth peer name eth1 address 02:00:00:00:03:01 netns router
ip -n sw-servers link set router master br0 up
ip -n sw-servers link add rs1 type veth peer name eth0 address 02:00:00:00:04:00 netns rs1
ip -n sw-servers link set rs1 master br0 up
ip -n sw-servers link add rs2 type veth peer name eth0 address 02:00:00:00:05:00 netns rs2
ip -n sw-servers link set rs2 master br0 up
ip netns exec client ethtool -K eth0 tx off >/dev/null
ip netns exec director ethtool -K eth0 tx off >/dev/null
ip netns exec router ethtool -K eth0 tx off >/dev/null
ip netns exec router ethtool -K eth1 tx off >/dev/null
ip netns exec rs1 ethtool -K eth0 tx off >/dev/null
ip netns exec rs2 ethtool -K eth0 tx off >/dev/null
ip -n client link set lo up
ip -n client link set eth0 up
ip -n director link set lo up
ip -n director link set eth0 up
ip -n router link set lo up
ip -n router link set eth0 up
ip -n router link set eth1 up
ip -n rs1 link set lo up
ip -n rs1 link set eth0 up
ip -n rs1 link add ip6tnl1 index 1000 type ip6tnl mode any local 2001:db8:2::11 remote ::
ip -n rs1 link set ip6tnl1 up
ip netns exec rs1 ethtool -K ip6tnl1 gro off
ip -n rs2 link set lo up
ip -n rs2 link set eth0 up
ip -n rs2 link add ip6tnl1 index 1000 type ip6tnl mode any local 2001:db8:2::12 remote ::
ip -n rs2 link set ip6tnl1 up
ip netns exec rs2 ethtool -K ip6tnl1 gro off
ip -n client addr add 203.0.113.16/24 dev eth0
ip -n client addr add 2001:db8:1::10/64 dev eth0
ip -n client addr add fe80::ff:fe00:100/64 dev eth0
ip -n director addr add 203.0.113.2/24 dev eth0
ip -n director addr add 2001:db8:1::2/64 dev eth0
ip -n director addr add fe80::ff:fe00:200/64 dev eth0
ip -n router addr add 203.0.113.1/24 dev eth0
ip -n router addr add 2001:db8:1::1/64 dev eth0
ip -n router addr add fe80::ff:fe00:300/64 dev eth0
ip -n router addr add 198.18.0.1/23 dev eth1
ip -n router addr add 2001:db8:2::1/64 dev eth1
ip -n router addr add fe80::ff:fe00:301/64 dev eth1
ip -n rs1 addr add 198.18.0.17/23 dev eth0
ip -n rs1 addr add 2001:db8:2::11/64 dev eth0
ip -n rs1 addr add fe80::ff:fe00:400/64 dev eth0
ip -n rs2 addr add 198.18.0.18/23 dev eth0
ip -n rs2 addr add 2001:db8:2::12/64 dev eth0
ip -n rs2 addr add fe80::ff:fe00:500/64 dev eth0
ip -n director addr add 203.0.113.100/32 dev eth0
ip -n rs1 addr add 203.0.113.100/32 dev lo
ip -n rs2 addr add 203.0.113.100/32 dev lo
ip netns exec router sysctl -q -w net.ipv4.ip_forward=1
ip netns exec router sysctl -q -w net.ipv6.conf.all.forwarding=1
ip netns exec rs1 sysctl -q -w net.ipv4.conf.all.rp_filter=0
ip netns exec rs1 sysctl -q -w net.ipv4.conf.ip6tnl1.rp_filter=0
ip netns exec rs2 sysctl -q -w net.ipv4.conf.all.rp_filter=0
ip netns exec rs2 sysctl -q -w net.ipv4.conf.ip6tnl1.rp_filter=0
ip -n client route add default via 203.0.113.1
ip -n client -6 route add default via 2001:db8:1::1
ip -n director route add default via 203.0.113.1
ip -n director -6 route add default via 2001:db8:1::1
ip -n rs1 route add default via 198.18.0.1
ip -n rs1 -6 route add default via 2001:db8:2::1
ip -n rs2 route add default via 198.18.0.1
ip -n rs2 -6 route add default via 2001:db8:2::1
ip netns exec director ipvsadm -A -t 203.0.113.100:80 -s rr
ip netns exec director ipvsadm -a -t 203.0.113.100:80 -r [2001:db8:2::11]:80 -i -w 1
ip netns exec director ipvsadm -a -t 203.0.113.100:80 -r [2001:db8:2::12]:80 -i -w 1
# rs1: any http server on port 80 will do; lvslab's is built in
# rs2: any http server on port 80 will do; lvslab's is built in
