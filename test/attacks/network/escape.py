"""Ways out of a sandbox that are not the proxy. Prints one line for each: its name, and OUT or the error."""

import os
import socket
import struct
import sys

HOST_PORT = int(sys.argv[1])
OTHER_PORT = int(sys.argv[2])


def attempt(name, action):
    try:
        result = action()
        print(name, "OUT" if result is None else result)
    except OSError as error:
        print(name, "errno", error.errno)


def tcp(address, port, family=socket.AF_INET):
    def action():
        with socket.socket(family, socket.SOCK_STREAM) as client:
            client.settimeout(3)
            client.connect((address, port))

    return action


def udp(address, port, family=socket.AF_INET):
    def action():
        with socket.socket(family, socket.SOCK_DGRAM) as client:
            client.sendto(b"secret", (address, port))

    return action


def raw(protocol):
    def action():
        with socket.socket(socket.AF_INET, socket.SOCK_RAW, protocol) as client:
            client.sendto(b"\x08\x00\xf7\xff\x00\x00\x00\x00", ("1.1.1.1", 0))

    return action


def ping():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP) as client:
        client.sendto(b"\x08\x00\xf7\xff\x00\x00\x00\x00", ("1.1.1.1", 0))


def packet():
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as client:
        client.bind(("lo", 0))


def vsock():
    with socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM) as client:
        client.settimeout(3)
        client.connect((2, 22))


def netlink():
    """A link of our own would need a device outside; creating one needs rights that are gone."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as client:
        client.bind((0, 0))
        header = struct.pack("=LHHLLBBHiII", 32, 16, 0x605, 1, 0, 0, 0, 0, 0, 0, 0)
        client.send(header)
        answer = client.recv(4096)
        error = struct.unpack("=i", answer[16:20])[0]
        if error != 0:
            raise OSError(-error, "refused")


def abstract():
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.connect("\0/tmp/.X11-unix/X0")


def rebind():
    """Taking the proxy's own port, to answer in its place."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        server.bind(("127.0.0.1", 3128))
        server.listen()


def names():
    socket.getaddrinfo("secret.example.com", 80)


def interfaces():
    found = [name for _, name in socket.if_nameindex()]
    return None if found != ["lo"] else "only lo"


def inherited():
    """The listener, or a channel to it, left open for the command."""
    left = [fd for fd in os.listdir("/proc/self/fd") if int(fd) > 2]
    kinds = [os.readlink(f"/proc/self/fd/{fd}") for fd in left if os.path.exists(f"/proc/self/fd/{fd}")]
    return None if any(kind.startswith("socket:") for kind in kinds) else "none"


attempt("tcp", tcp("1.1.1.1", 443))
attempt("tcp-v6", tcp("2606:4700:4700::1111", 443, socket.AF_INET6))
attempt("tcp-host-loopback", tcp("127.0.0.1", HOST_PORT))
attempt("tcp-other-command", tcp("127.0.0.1", OTHER_PORT))
attempt("tcp-metadata", tcp("169.254.169.254", 80))
attempt("udp-dns", udp("8.8.8.8", 53))
attempt("udp-v6", udp("2001:4860:4860::8888", 53, socket.AF_INET6))
attempt("udp-broadcast", udp("255.255.255.255", 9))
attempt("udp-multicast", udp("224.0.0.251", 5353))
attempt("icmp-raw", raw(socket.IPPROTO_ICMP))
attempt("icmp-ping", ping)
attempt("sctp", raw(132))
attempt("packet", packet)
attempt("vsock", vsock)
attempt("netlink", netlink)
attempt("abstract", abstract)
attempt("rebind", rebind)
attempt("names", names)
attempt("interfaces", interfaces)
attempt("inherited", inherited)
