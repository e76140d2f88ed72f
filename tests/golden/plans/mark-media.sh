#!/bin/sh
# lvslab: topology mark-media
set -e
modprobe -a ipv6 veth bridge ip_vs ip_vs_rr iptable_mangle xt_mark xt_tcpudp ipip
ip netns add sw-outside
ip netns add sw-servers
ip netns add client1
ip netns add client2
ip netns add director
ip netns add router
ip netns add rs1
ip netns add rs2
ip netns add rs3
ip netns exec sw-outside sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec sw-outside sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec sw-servers sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec sw-servers sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec client1 sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec client1 sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec client2 sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec client2 sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec director sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec director sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec router sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec router sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec rs1 sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec rs1 sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec rs2 sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec rs2 sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec rs3 sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec rs3 sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip -n sw-outside link add br0 type bridge forward_delay 0 stp_state 0 mcast_snooping 0
ip -n sw-outside link set br0 up
ip -n sw-servers link add br0 type bridge forward_delay 0 stp_state 0 mcast_snooping 0
ip -n sw-servers link set br0 up
ip -n sw-outside link add client1 type veth peer name eth0 address 02:00:00:00:01:00 netns client1
ip -n sw-outside link set client1 master br0 up
ip -n sw-outside link add client2 type veth peer name eth0 address 02:00:00:00:02:00 netns client2
ip -n sw-outside link set client2 master br0 up
ip -n sw-outside link add director type veth peer name eth0 address 02:00:00:00:03:00 netns director
ip -n sw-outside link set director master br0 up
ip -n sw-outside link add router type veth peer name eth0 address 02:00:00:00:04:00 netns router
ip -n sw-outside link set router master br0 up
ip -n sw-servers link add router type veth peer name eth1 address 02:00:00:00:04:01 netns router
ip -n sw-servers link set router master br0 up
ip -n sw-servers link add rs1 type veth peer name eth0 address 02:00:00:00:05:00 netns rs1
ip -n sw-servers link set rs1 master br0 up
ip -n sw-servers link add rs2 type veth peer name eth0 address 02:00:00:00:06:00 netns rs2
ip -n sw-servers link set rs2 master br0 up
ip -n sw-servers link add rs3 type veth peer name eth0 address 02:00:00:00:07:00 netns rs3
ip -n sw-servers link set rs3 master br0 up
ip netns exec client1 ethtool -K eth0 tx off >/dev/null
ip netns exec client2 ethtool -K eth0 tx off >/dev/null
ip netns exec director ethtool -K eth0 tx off >/dev/null
ip netns exec router ethtool -K eth0 tx off >/dev/null
ip netns exec router ethtool -K eth1 tx off >/dev/null
ip netns exec rs1 ethtool -K eth0 tx off >/dev/null
ip netns exec rs2 ethtool -K eth0 tx off >/dev/null
ip netns exec rs3 ethtool -K eth0 tx off >/dev/null
ip -n client1 link set lo up
ip -n client1 link set eth0 up
ip -n client2 link set lo up
ip -n client2 link set eth0 up
ip -n director link set lo up
ip -n director link set eth0 up
ip -n router link set lo up
ip -n router link set eth0 up
ip -n router link set eth1 up
ip -n rs1 link set lo up
ip -n rs1 link set eth0 up
ip -n rs1 link set tunl0 up
ip netns exec rs1 ethtool -K tunl0 gro off
ip -n rs2 link set lo up
ip -n rs2 link set eth0 up
ip -n rs2 link set tunl0 up
ip netns exec rs2 ethtool -K tunl0 gro off
ip -n rs3 link set lo up
ip -n rs3 link set eth0 up
ip -n rs3 link set tunl0 up
ip netns exec rs3 ethtool -K tunl0 gro off
ip -n client1 addr add 203.0.113.10/24 dev eth0
ip -n client2 addr add 203.0.113.11/24 dev eth0
ip -n director addr add 203.0.113.2/24 dev eth0
ip -n router addr add 203.0.113.1/24 dev eth0
ip -n router addr add 198.18.0.1/23 dev eth1
ip -n rs1 addr add 198.18.0.11/23 dev eth0
ip -n rs2 addr add 198.18.0.12/23 dev eth0
ip -n rs3 addr add 198.18.0.13/23 dev eth0
ip -n director addr add 203.0.113.100/32 dev eth0
ip -n rs1 addr add 203.0.113.100/32 dev lo
ip -n rs2 addr add 203.0.113.100/32 dev lo
ip -n rs3 addr add 203.0.113.100/32 dev lo
ip netns exec router sysctl -q -w net.ipv4.ip_forward=1
ip netns exec rs1 sysctl -q -w net.ipv4.conf.all.rp_filter=0
ip netns exec rs1 sysctl -q -w net.ipv4.conf.tunl0.rp_filter=0
ip netns exec rs2 sysctl -q -w net.ipv4.conf.all.rp_filter=0
ip netns exec rs2 sysctl -q -w net.ipv4.conf.tunl0.rp_filter=0
ip netns exec rs3 sysctl -q -w net.ipv4.conf.all.rp_filter=0
ip netns exec rs3 sysctl -q -w net.ipv4.conf.tunl0.rp_filter=0
ip -n client1 route add default via 203.0.113.1
ip -n client2 route add default via 203.0.113.1
ip -n director route add default via 203.0.113.1
ip -n rs1 route add default via 198.18.0.1
ip -n rs2 route add default via 198.18.0.1
ip -n rs3 route add default via 198.18.0.1
ip netns exec director iptables-legacy -w -t mangle -A PREROUTING -d 203.0.113.100 -p tcp --dport 554 -j MARK --set-mark 5
ip netns exec director iptables-legacy -w -t mangle -A PREROUTING -d 203.0.113.100 -p udp --dport 6970 -j MARK --set-mark 5
ip netns exec director ipvsadm -A -f 5 -s rr -p 300
ip netns exec director ipvsadm -a -f 5 -r 198.18.0.11:0 -i -w 1
ip netns exec director ipvsadm -a -f 5 -r 198.18.0.12:0 -i -w 1
ip netns exec director ipvsadm -a -f 5 -r 198.18.0.13:0 -i -w 1
# rs1: any http server on port 554 will do; lvslab's is built in
# rs2: any http server on port 554 will do; lvslab's is built in
# rs3: any http server on port 554 will do; lvslab's is built in
# rs1: any udp-echo server on port 6970 will do; lvslab's is built in
# rs2: any udp-echo server on port 6970 will do; lvslab's is built in
# rs3: any udp-echo server on port 6970 will do; lvslab's is built in
