# SPDX-License-Identifier: Apache-2.0
# Writes what the kernel says on rtnetlink while a network comes and goes to files, one per datagram, for the fuzzer's
# corpus. Called by scripts/fuzz --record, inside a network namespace of its own.
import hashlib, os, select, socket, struct, subprocess, sys

kind, directory = sys.argv[1:]  # messages or conversations
ROUTE, ADD_MEMBERSHIP, SOL_NETLINK, STRICT = 0, 1, 270, 12
GROUPS = [1, 5, 9, 7, 11, 8, 19, 24, 25, 32]  # links, addresses, routes, rules, netconf, next hops
STEPS = """
link set lo up
link add eth0 index 40 type veth peer name r0 index 50
addr add 192.0.2.10/24 dev eth0
addr add 2001:db8:1::10/64 dev eth0 nodad
addr add 2001:db8:1::11/64 dev eth0 preferred_lft 0 valid_lft 60
link set r0 up
link set eth0 up
route add default via 192.0.2.1
-6 route add default via 2001:db8:1::1 expires 60
-4 route add default via inet6 fe80::1 dev eth0 metric 300
route replace default via 192.0.2.2
route add blackhole 10.0.0.0/8
-6 route add prohibit 2001:db8:9::/48
nexthop add id 1 via 192.0.2.1 dev eth0
route add 0.0.0.0/1 nhid 1
route add 128.0.0.0/1 nexthop via 192.0.2.1 dev eth0 nexthop via 192.0.2.3 dev eth0
rule add not fwmark 51820 table 51820
-6 rule add prohibit from 2001:db8:7::/48
link add br0 type bridge
link add v0 type veth peer name v1
link set v0 master br0
link set br0 up
link set v0 nomaster
link add mv0 link eth0 type macvlan
tuntap add tun0 mode tun
addr add 10.8.0.2 peer 10.8.0.1 dev tun0
link set tun0 up
nexthop del id 1
link set r0 down
link set r0 up
link set eth0 mode dormant
link set eth0 down
link set eth0 name wan0
link property add dev wan0 altname internet
link del br0
rule del not fwmark 51820 table 51820
link del wan0
""".strip().splitlines()


events_heard, answers = [], []


def write(content):
    with open(f"{directory}/{hashlib.sha1(content).hexdigest()[:16]}", "wb") as file:
        file.write(content)


def keep(datagram, is_answer=False):
    (answers if is_answer else events_heard).append(datagram)
    if kind == "messages":
        write(datagram)


def converse():
    """One conversation: the stock, the routes and links asked for, and what was heard since the last."""
    answers.clear()
    ask(18, 0x300, struct.pack("=BBHiII", 0, 0, 0, 0, 0, 0) + struct.pack("=HHI", 8, 29, 8))
    ask(22, 0x300, struct.pack("=BBBBI", 0, 0, 0, 0, 0))
    for again in range(2):
        for family, address in (socket.AF_INET, "45.0.0.1"), (socket.AF_INET, "131.0.0.1"), (socket.AF_INET6, "2600::1"):
            route_get(family, address, 0x1000)
        ask(18, 0, struct.pack("=BBHiII", 0, 0, 0, 40, 0, 0) + struct.pack("=HHI", 8, 29, 8))
    packed = [(0xC0, datagram) for datagram in answers] + [(0, datagram) for datagram in events_heard]
    if kind == "conversations":
        write(b"".join(struct.pack("<BH", what, len(datagram)) + datagram for what, datagram in packed))
    events_heard.clear()


def events(listener):
    while select.select([listener], [], [], 0.05)[0]:
        keep(listener.recv(1 << 16))


def ask(kind, flags, payload):
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, ROUTE) as query:
        query.bind((0, 0))
        query.settimeout(2)
        query.send(struct.pack("=IHHII", 16 + len(payload), kind, 1 | flags, 1, 0) + payload)
        while True:
            datagram = query.recv(1 << 16)
            keep(datagram, is_answer=True)
            if not flags or struct.unpack_from("=H", datagram, 4)[0] in (2, 3):
                return


def route_get(family, address, flags=0):
    destination = socket.inet_pton(family, address)
    attribute = struct.pack("=HH", 4 + len(destination), 1) + destination
    ask(26, 0, struct.pack("=BBBBBBBBI", family, len(destination) * 8, 0, 0, 0, 0, 0, 0, flags) + attribute)


listener = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, ROUTE)
listener.bind((0, 0))
for group in GROUPS:
    listener.setsockopt(SOL_NETLINK, ADD_MEMBERSHIP, group)
for step in STEPS:
    family = [step.split()[0]] if step.startswith("-") else []
    subprocess.run(["ip"] + family + step.split()[len(family):], check=True)
    events(listener)
    for flags in (0x1000, 0x2000):  # RTM_F_LOOKUP_TABLE, RTM_F_FIB_MATCH
        route_get(socket.AF_INET, "45.0.0.1", flags)
        route_get(socket.AF_INET6, "2600::1", flags)
    converse()
