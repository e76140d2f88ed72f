#!/bin/sh
# lvslab: topology hybrid
set -e
modprobe -a ipv6 veth bridge ip_vs ip_vs_rr
ip netns add sw-outside
ip netns add sw-inside1
ip netns add sw-inside2
ip netns add client1
ip netns add client2
ip netns add ns
ip netns add resolver
ip netns add director1
ip netns add director2
ip netns add rs1
ip netns add rs2
ip netns add rs3
ip netns add rs4
ip netns exec sw-outside sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec sw-outside sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec sw-inside1 sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec sw-inside1 sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec sw-inside2 sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec sw-inside2 sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec client1 sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec client1 sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec client2 sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec client2 sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec ns sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec ns sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec resolver sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec resolver sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec director1 sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec director1 sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec director2 sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec director2 sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec rs1 sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec rs1 sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec rs2 sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec rs2 sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec rs3 sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec rs3 sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns exec rs4 sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip netns exec rs4 sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip -n sw-outside link add br0 type bridge forward_delay 0 stp_state 0 mcast_snooping 0
ip -n sw-outside link set br0 up
ip -n sw-inside1 link add br0 type bridge forward_delay 0 stp_state 0 mcast_snooping 0
ip -n sw-inside1 link set br0 up
ip -n sw-inside2 link add br0 type bridge forward_delay 0 stp_state 0 mcast_snooping 0
ip -n sw-inside2 link set br0 up
ip -n sw-outside link add client1 type veth peer name eth0 address 02:00:00:00:01:00 netns client1
ip -n sw-outside link set client1 master br0 up
ip -n sw-outside link add client2 type veth peer name eth0 address 02:00:00:00:02:00 netns client2
ip -n sw-outside link set client2 master br0 up
ip -n sw-outside link add ns type veth peer name eth0 address 02:00:00:00:03:00 netns ns
ip -n sw-outside link set ns master br0 up
ip -n sw-outside link add resolver type veth peer name eth0 address 02:00:00:00:04:00 netns resolver
ip -n sw-outside link set resolver master br0 up
ip -n sw-outside link add director1 type veth peer name eth0 address 02:00:00:00:05:00 netns director1
ip -n sw-outside link set director1 master br0 up
ip -n sw-inside1 link add director1 type veth peer name eth1 address 02:00:00:00:05:01 netns director1
ip -n sw-inside1 link set director1 master br0 up
ip -n sw-outside link add director2 type veth peer name eth0 address 02:00:00:00:06:00 netns director2
ip -n sw-outside link set director2 master br0 up
ip -n sw-inside2 link add director2 type veth peer name eth1 address 02:00:00:00:06:01 netns director2
ip -n sw-inside2 link set director2 master br0 up
ip -n sw-inside1 link add rs1 type veth peer name eth0 address 02:00:00:00:07:00 netns rs1
ip -n sw-inside1 link set rs1 master br0 up
ip -n sw-inside1 link add rs2 type veth peer name eth0 address 02:00:00:00:08:00 netns rs2
ip -n sw-inside1 link set rs2 master br0 up
ip -n sw-inside2 link add rs3 type veth peer name eth0 address 02:00:00:00:09:00 netns rs3
ip -n sw-inside2 link set rs3 master br0 up
ip -n sw-inside2 link add rs4 type veth peer name eth0 address 02:00:00:00:0a:00 netns rs4
ip -n sw-inside2 link set rs4 master br0 up
ip netns exec client1 ethtool -K eth0 tx off >/dev/null
ip netns exec client2 ethtool -K eth0 tx off >/dev/null
ip netns exec ns ethtool -K eth0 tx off >/dev/null
ip netns exec resolver ethtool -K eth0 tx off >/dev/null
ip netns exec director1 ethtool -K eth0 tx off >/dev/null
ip netns exec director1 ethtool -K eth1 tx off >/dev/null
ip netns exec director2 ethtool -K eth0 tx off >/dev/null
ip netns exec director2 ethtool -K eth1 tx off >/dev/null
ip netns exec rs1 ethtool -K eth0 tx off >/dev/null
ip netns exec rs2 ethtool -K eth0 tx off >/dev/null
ip netns exec rs3 ethtool -K eth0 tx off >/dev/null
ip netns exec rs4 ethtool -K eth0 tx off >/dev/null
ip -n client1 link set lo up
ip -n client1 link set eth0 up
ip -n client2 link set lo up
ip -n client2 link set eth0 up
ip -n ns link set lo up
ip -n ns link set eth0 up
ip -n resolver link set lo up
ip -n resolver link set eth0 up
ip -n director1 link set lo up
ip -n director1 link set eth0 up
ip -n director1 link set eth1 up
ip -n director2 link set lo up
ip -n director2 link set eth0 up
ip -n director2 link set eth1 up
ip -n rs1 link set lo up
ip -n rs1 link set eth0 up
ip -n rs2 link set lo up
ip -n rs2 link set eth0 up
ip -n rs3 link set lo up
ip -n rs3 link set eth0 up
ip -n rs4 link set lo up
ip -n rs4 link set eth0 up
ip -n client1 addr add 203.0.113.10/24 dev eth0
ip -n client2 addr add 203.0.113.11/24 dev eth0
ip -n ns addr add 203.0.113.5/24 dev eth0
ip -n resolver addr add 203.0.113.53/24 dev eth0
ip -n director1 addr add 203.0.113.2/24 dev eth0
ip -n director1 addr add 198.18.0.1/23 dev eth1
ip -n director2 addr add 203.0.113.3/24 dev eth0
ip -n director2 addr add 198.18.2.1/23 dev eth1
ip -n rs1 addr add 198.18.0.11/23 dev eth0
ip -n rs2 addr add 198.18.0.12/23 dev eth0
ip -n rs3 addr add 198.18.2.11/23 dev eth0
ip -n rs4 addr add 198.18.2.12/23 dev eth0
ip -n director1 addr add 203.0.113.100/32 dev eth0
ip -n director2 addr add 203.0.113.101/32 dev eth0
ip netns exec director1 sysctl -q -w net.ipv4.ip_forward=1
ip netns exec director1 sysctl -q -w net.ipv4.conf.all.send_redirects=0
ip netns exec director1 sysctl -q -w net.ipv4.conf.eth0.send_redirects=0
ip netns exec director1 sysctl -q -w net.ipv4.conf.eth1.send_redirects=0
ip netns exec director2 sysctl -q -w net.ipv4.ip_forward=1
ip netns exec director2 sysctl -q -w net.ipv4.conf.all.send_redirects=0
ip netns exec director2 sysctl -q -w net.ipv4.conf.eth0.send_redirects=0
ip netns exec director2 sysctl -q -w net.ipv4.conf.eth1.send_redirects=0
ip -n rs1 route add default via 198.18.0.1
ip -n rs2 route add default via 198.18.0.1
ip -n rs3 route add default via 198.18.2.1
ip -n rs4 route add default via 198.18.2.1
ip netns exec director1 ipvsadm -A -t 203.0.113.100:80 -s rr
ip netns exec director1 ipvsadm -a -t 203.0.113.100:80 -r 198.18.0.11:8080 -m -w 1
ip netns exec director1 ipvsadm -a -t 203.0.113.100:80 -r 198.18.0.12:8080 -m -w 1
ip netns exec director2 ipvsadm -A -t 203.0.113.101:80 -s rr
ip netns exec director2 ipvsadm -a -t 203.0.113.101:80 -r 198.18.2.11:8080 -m -w 1
ip netns exec director2 ipvsadm -a -t 203.0.113.101:80 -r 198.18.2.12:8080 -m -w 1
# rs1: any http server on port 8080 will do; lvslab's is built in
# rs2: any http server on port 8080 will do; lvslab's is built in
# rs3: any http server on port 8080 will do; lvslab's is built in
# rs4: any http server on port 8080 will do; lvslab's is built in
# ns: lvslab's name server is built in; dnsmasq rotates as well, over UDP
ip netns exec ns dnsmasq --keep-in-foreground --conf-file=/dev/null --no-resolv --no-hosts --no-poll --pid-file --user=root --cache-size=2000 --local=/www.cluster.example/ --host-record=www.cluster.example,203.0.113.100,30 --host-record=www.cluster.example,203.0.113.101,30 >/dev/null 2>&1 &
ip netns exec resolver dnsmasq --keep-in-foreground --conf-file=/dev/null --no-resolv --no-hosts --no-poll --pid-file --user=root --cache-size=2000 --no-round-robin --server=203.0.113.5 >/dev/null 2>&1 &
