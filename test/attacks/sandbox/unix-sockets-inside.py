"""Each way to a unix socket of the host, and each that must work between processes of one sandbox. Prints what came of it as JSON."""
import array, json, os, signal, socket, sys, tempfile, threading, time

signal.alarm(60)
FAR = json.load(open("far.json"))
out = {}
PLACE = tempfile.mkdtemp()


def talk(address, kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_UNIX, kind) as one:
        one.settimeout(5)
        one.connect(address)
        return one.recv(64).decode()


def row(name, work):
    try:
        out[name] = work()
    except OSError as error:
        out[name] = type(error).__name__


def serve(path, kind=socket.SOCK_STREAM, times=1):
    listener = socket.socket(socket.AF_UNIX, kind)
    listener.bind(path)
    listener.listen(64)

    def loop():
        for _ in range(times):
            one, _ = listener.accept()
            one.sendall(b"own")
            one.close()

    threading.Thread(target=loop, daemon=True).start()
    return listener


def race(make, attempts=300):
    """Whether the host's socket was ever reached while something was swapped all the time."""
    for _ in range(attempts):
        try:
            if make() == "host":
                return "host"
        except OSError:
            pass
    return "never"


def swapped_link():
    serve("/tmp/own.sock", times=1 << 20)
    here = os.path.abspath("host.sock")
    for index, target in enumerate(["/tmp/own.sock", here]):
        os.symlink(target, f"/tmp/to{index}")
    stop = threading.Event()

    def swap():
        while not stop.is_set():
            for index in range(2):
                os.link(f"/tmp/to{index}", "/tmp/next", follow_symlinks=False)
                os.rename("/tmp/next", "/tmp/swapped")
                if os.path.lexists("/tmp/next"):
                    os.unlink("/tmp/next")

    thread = threading.Thread(target=swap)
    os.symlink("/tmp/own.sock", "/tmp/swapped")
    thread.start()
    try:
        return race(lambda: talk("/tmp/swapped"))
    finally:
        stop.set()
        thread.join()


def swapped_descriptor():
    """The number of an internet socket becomes a unix one's while connect() waits for its answer."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    path = os.path.abspath("host.sock").encode()
    address = (1).to_bytes(2, "little") + path + b"\0"
    reached = False
    for _ in range(100):
        unix, internet = socket.socket(socket.AF_UNIX), socket.socket()
        number = os.dup(internet.fileno())
        stop = threading.Event()

        def swap():
            while not stop.is_set():
                os.dup2(unix.fileno(), number)
                os.dup2(internet.fileno(), number)

        thread = threading.Thread(target=swap)
        thread.start()
        for _ in range(10):
            libc.connect(number, address, len(address))
        stop.set()
        thread.join()
        unix.settimeout(0.05)
        try:
            reached = reached or unix.recv(8) == b"host"
        except OSError:
            pass
        for one in (unix, internet):
            one.close()
        os.close(number)
    return "host" if reached else "never"


def datagram(address):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as one:
        one.sendto(b"x", address)
        return "host"


def pair_datagram(address):
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendmsg([b"x"], [], 0, address)
    return "host"


def passes_descriptor():
    path = f"{PLACE}/rights.sock"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        one = socket.socket(socket.AF_UNIX)
        one.connect(path)
        one.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [writer]))])
        os._exit(0)
    one, _ = listener.accept()
    _, control, _, _ = one.recvmsg(1, socket.CMSG_SPACE(4))
    os.waitpid(child, 0)
    os.write(array.array("i", control[0][2])[0], b"own")
    return os.read(reader, 3).decode()


def own(path, kind=socket.SOCK_STREAM):
    listener = serve(path, kind)
    try:
        if os.fsdecode(listener.getsockname()) != path:
            return f"called {listener.getsockname()}"
        return talk(path, kind)
    finally:
        listener.close()


row("in the project", lambda: talk("host.sock"))
row("by another name of it", lambda: (os.path.exists("second") or os.link("host.sock", "second"), talk("second"))[1])
row("by a link", lambda: (os.path.lexists("link") or os.symlink("host.sock", "link"), talk("link"))[1])
row("by the folder of a process", lambda: talk("/proc/self/cwd/host.sock"))
row("outside, by a link", lambda: talk("outside.sock"))
row("outside, by its path", lambda: talk(FAR["outside"]))
row("abstract", lambda: talk("\0" + FAR["abstract"]))
row("a packet socket", lambda: talk("packets.sock", socket.SOCK_SEQPACKET))
row("a datagram", lambda: datagram("datagrams.sock"))
row("a datagram of a pair", lambda: pair_datagram("datagrams.sock"))
open("ready", "w").close()
while not os.path.exists("later"):
    time.sleep(0.01)
row("made while it runs", lambda: talk("later.sock"))
row("where git listens", lambda: own(os.path.abspath(".git/fsmonitor--daemon.ipc")))
if "races" in sys.argv:
    row("swapped for a link", swapped_link)
    row("swapped for another socket", swapped_descriptor)
row("own, in the project", lambda: own(os.path.abspath("own.sock")))
row("own, in /tmp", lambda: own(f"{PLACE}/own.sock"))
row("own, abstract", lambda: own(f"\0{PLACE}"))
row("own, packets", lambda: own(f"{PLACE}/packets.sock", socket.SOCK_SEQPACKET))
row("own, a descriptor", passes_descriptor)
print(json.dumps(out))
