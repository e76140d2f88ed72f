#!/bin/sh
# lvslab: topology rr-dns
set -e
modprobe -a ipv6 veth bridge
ip netns add sw-clients
ip netns add sw-servers
ip netns add client1
ip netns add client2
ip netns add client3
ip netns add resolver
ip netns add router
ip netns add ns
ip netns add rs1
ip netns add rs2
ip netns exec sw-clients sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec sw-clients sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec sw-servers sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec sw-servers sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec client1 sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec client1 sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec client2 sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec client2 sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec client3 sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec client3 sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec resolver sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec resolver sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec router sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec router sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec ns sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec ns sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec rs1 sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec rs1 sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec rs2 sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec rs2 sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip -n sw-clients link add br0 type bridge forward_delay 0 stp_state 0 mcast_snooping 0
ip -n sw-clients link set br0 up
ip -n sw-servers link add br0 type bridge forward_delay 0 stp_state 0 mcast_snooping 0
ip -n sw-servers link set br0 up
ip -n sw-clients link add client1 type veth peer name eth0 address 02:00:00:00:01:00 netns client1
ip -n sw-clients link set client1 master br0 up
ip -n sw-clients link add client2 type veth peer name eth0 address 02:00:00:00:02:00 netns client2
ip -n sw-clients link set client2 master br0 up
ip -n sw-clients link add client3 type veth peer name eth0 address 02:00:00:00:03:00 netns client3
ip -n sw-clients link set client3 master br0 up
ip -n sw-clients link add resolver type veth peer name eth0 address 02:00:00:00:04:00 netns resolver
ip -n sw-clients link set resolver master br0 up
ip -n sw-clients link add router type veth peer name eth0 address 02:00:00:00:05:00 netns router
ip -n sw-clients link set router master br0 up
ip -n sw-servers link add router type veth peer name eth1 address 02:00:00:00:05:01 netns router
ip -n sw-servers link set router master br0 up
ip -n sw-servers link add ns type veth peer name eth0 address 02:00:00:00:06:00 netns ns
ip -n sw-servers link set ns master br0 up
ip -n sw-servers link add rs1 type veth peer name eth0 address 02:00:00:00:07:00 netns rs1
ip -n sw-servers link set rs1 master br0 up
ip -n sw-servers link add rs2 type veth peer name eth0 address 02:00:00:00:08:00 netns rs2
ip -n sw-servers link set rs2 master br0 up
ip netns exec client1 ethtool -K eth0 tx off >/dev/null
ip netns exec client2 ethtool -K eth0 tx off >/dev/null
ip netns exec client3 ethtool -K eth0 tx off >/dev/null
ip netns exec resolver ethtool -K eth0 tx off >/dev/null
ip netns exec router ethtool -K eth0 tx off >/dev/null
ip netns exec router ethtool -K eth1 tx off >/dev/null
ip netns exec ns ethtool -K eth0 tx off >/dev/null
ip netns exec rs1 ethtool -K eth0 tx off >/dev/null
ip netns exec rs2 ethtool -K eth0 tx off >/dev/null
ip -n client1 link set lo up
ip -n client1 link set eth0 up
ip -n client2 link set lo up
ip -n client2 link set eth0 up
ip -n client3 link set lo up
ip -n client3 link set eth0 up
ip -n resolver link set lo up
ip -n resolver link set eth0 up
ip -n router link set lo up
ip -n router link set eth0 up
ip -n router link set eth1 up
ip -n ns link set lo up
ip -n ns link set eth0 up
ip -n rs1 link set lo up
ip -n rs1 link set eth0 up
ip -n rs2 link set lo up
ip -n rs2 link set eth0 up
ip -n client1 addr add 203.0.113.10/24 dev eth0
ip -n client2 addr add 203.0.113.11/24 dev eth0
ip -n client3 addr add 203.0.113.12/24 dev eth0
ip -n resolver addr add 203.0.113.53/24 dev eth0
ip -n router addr add 203.0.113.1/24 dev eth0
ip -n router addr add 198.18.0.1/23 dev eth1
ip -n ns addr add 198.18.0.5/23 dev eth0
ip -n rs1 addr add 198.18.0.11/23 dev eth0
ip -n rs2 addr add 198.18.0.12/23 dev eth0
ip netns exec router sysctl -q -w net.ipv4.ip_forward=1
ip -n client1 route add default via 203.0.113.1
ip -n client2 route add default via 203.0.113.1
ip -n client3 route add default via 203.0.113.1
ip -n resolver route add default via 203.0.113.1
ip -n ns route add default via 198.18.0.1
ip -n rs1 route add default via 198.18.0.1
ip -n rs2 route add default via 198.18.0.1
# rs1: any http server on port 80 will do; lvslab's is built in
# rs2: any http server on port 80 will do; lvslab's is built in
# ns: lvslab's name server is built in; dnsmasq rotates as well, over UDP
ip netns exec ns dnsmasq --keep-in-foreground --conf-file=/dev/null --no-resolv --no-hosts --no-poll --pid-file --user=root --cache-size=2000 --local=/www.cluster.example/ --host-record=www.cluster.example,198.18.0.11,30 --host-record=www.cluster.example,198.18.0.12,30 >/dev/null 2>&1 &
ip netns exec resolver dnsmasq --keep-in-foreground --conf-file=/dev/null --no-resolv --no-hosts --no-poll --pid-file --user=root --cache-size=2000 --no-round-robin --server=198.18.0.5 >/dev/null 2>&1 &
