"""Sockets of the host, which say "host" to who connects: in the project, elsewhere, abstract, and one that comes later."""
import json, os, select, socket, sys

project, outside, abstract = sys.argv[1:4]


def listen(path, kind=socket.SOCK_STREAM):
    one = socket.socket(socket.AF_UNIX, kind)
    one.bind(path)
    if not path.startswith("\0"):
        os.chmod(path, 0o777)
    if kind != socket.SOCK_DGRAM:
        one.listen(64)
    return one


os.chdir(project)
listeners = [listen("host.sock"), listen(outside), listen("\0" + abstract), listen("packets.sock", socket.SOCK_SEQPACKET)]
datagrams = [listen(name, socket.SOCK_DGRAM) for name in ("datagrams.sock", "\0d" + abstract)]
os.symlink("datagrams.sock", "datagrams-link")
print("up", flush=True)
while True:
    if os.path.exists("ready") and not os.path.exists("later"):
        listeners.append(listen("later.sock"))
        open("later", "w").close()
    for one in select.select(listeners + datagrams, [], [], 0.02)[0]:
        if one in datagrams:
            if one.recv(64) == b"race":
                open("reached", "w").close()
            continue
        client, _ = one.accept()
        try:
            client.sendall(b"host")
        except OSError:
            pass
        client.close()
