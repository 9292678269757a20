"""Each way to a unix socket of the host, and each that must work between processes of one sandbox. Prints what came of it as JSON."""
import array, json, os, signal, socket, struct, sys, tempfile, threading, time

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


def datagram(address, how=lambda one, address: one.sendto(b"x", address)):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as one:
        how(one, address)
        return "host"


def connected(one, address):
    one.connect(address)
    one.send(b"x")


def with_descriptor(one, address):
    one.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0]))], 0, address)


def pair_datagram(address):
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendmsg([b"x"], [], 0, address)
    return "host"


def several(one, address):
    """sendmmsg(), which Python does not have."""
    import ctypes

    name, parts, head = raw_message(address)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.sendmmsg(one.fileno(), ctypes.c_char_p(head + bytes(8)), 1, 0) != 1:
        raise OSError(ctypes.get_errno(), "sendmmsg")


KEPT = []


def raw_message(address):
    """A struct msghdr, with what it points to."""
    import ctypes

    name = ctypes.create_string_buffer((1).to_bytes(2, "little") + address.encode() + b"\0")
    data = ctypes.create_string_buffer(b"race")
    parts = struct.pack("QQ", ctypes.addressof(data), 4)
    holder = ctypes.create_string_buffer(parts)
    KEPT.extend([name, data, holder])
    head = struct.pack("QI4xQQQQi4x", ctypes.addressof(name), len(address) + 3, ctypes.addressof(holder), 1, 0, 0, 0)
    return name, parts, head


def race_sends(prepare, swap, rounds=3000):
    """Sends the same message again and again, to an own socket or to the host's, while another thread swaps what it can."""
    import ctypes

    libc = ctypes.CDLL(None)
    number, head = prepare()
    stop = threading.Event()

    def loop():
        while not stop.is_set():
            swap(number)

    thread = threading.Thread(target=loop)
    thread.start()
    for _ in range(rounds):
        libc.sendmsg(number, ctypes.c_char_p(head), 0x4040)  # MSG_NOSIGNAL | MSG_DONTWAIT
    stop.set()
    thread.join()
    return "host" if os.path.exists("reached") else "never"


def swapped_first_datagram():
    """No datagram socket is there yet; one comes into the number of another socket."""
    stream, _ = socket.socketpair()
    other, _ = socket.socketpair()
    number = os.dup(stream.fileno())

    def swap(number):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as one:
            os.dup2(one.fileno(), number)
            os.dup2(other.fileno(), number)

    return race_sends(lambda: (number, raw_message(os.path.abspath("datagrams.sock"))[2]), swap)


def swapped_address():
    own, host = f"{PLACE}/race.sock", os.path.abspath("datagrams.sock")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listener.bind(own)
    one = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    name, _, head = raw_message(host)
    texts = [(1).to_bytes(2, "little") + path.encode() for path in (own, host)]
    long = max(map(len, texts))

    def swap(_):
        for text in texts:
            name[:long] = text.ljust(long, b"\0")

    return race_sends(lambda: (one.fileno(), head), swap)


def own_datagram(path, how=lambda one, address: one.sendto(b"own", address)):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as one:
        listener.bind(path)
        listener.settimeout(5)
        how(one, path)
        return listener.recv(8).decode()


def answered_datagram():
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as one:
        listener.bind(f"{PLACE}/asked.sock")
        one.bind(f"{PLACE}/asks.sock")
        one.settimeout(5)
        one.sendto(b"?", f"{PLACE}/asked.sock")
        _, sender = listener.recvfrom(8)
        listener.sendto(b"own", sender)
        return one.recv(8).decode()


def passes_by_datagram():
    reader, writer = os.pipe()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as one:
        listener.bind(f"{PLACE}/passed.sock")
        one.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [writer]))], 0, f"{PLACE}/passed.sock")
        _, control, _, _ = listener.recvmsg(1, socket.CMSG_SPACE(4))
    os.write(array.array("i", control[0][2])[0], b"own")
    return os.read(reader, 3).decode()


def pair_of_datagrams():
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.send(b"own")
    return other.recv(8).decode()


def connected_datagram(one, address):
    one.connect(address)
    os.write(one.fileno(), b"own")


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


if "races" in sys.argv:
    row("swapped for the first datagram socket", swapped_first_datagram)
    row("swapped address of a datagram", swapped_address)
row("in the project", lambda: talk("host.sock"))
row("by another name of it", lambda: (os.path.exists("second") or os.link("host.sock", "second"), talk("second"))[1])
row("by a link", lambda: (os.path.lexists("link") or os.symlink("host.sock", "link"), talk("link"))[1])
row("by the folder of a process", lambda: talk("/proc/self/cwd/host.sock"))
row("outside, by a link", lambda: talk("outside.sock"))
row("outside, by its path", lambda: talk(FAR["outside"]))
row("abstract", lambda: talk("\0" + FAR["abstract"]))
row("a packet socket", lambda: talk("packets.sock", socket.SOCK_SEQPACKET))
row("a datagram", lambda: datagram("datagrams.sock"))
row("a datagram, connected", lambda: datagram("datagrams.sock", connected))
row("a datagram by a link", lambda: datagram("datagrams-link"))
row("a datagram with a descriptor", lambda: datagram("datagrams.sock", with_descriptor))
row("several datagrams", lambda: datagram("datagrams.sock", several))
row("a datagram, abstract", lambda: datagram("\0d" + FAR["abstract"]))
row("a datagram of a pair", lambda: pair_datagram("datagrams.sock"))
open("ready", "w").close()
while not os.path.exists("later"):
    time.sleep(0.01)
row("created while it runs", lambda: talk("later.sock"))
row("where git listens", lambda: own(os.path.abspath(".git/fsmonitor--daemon.ipc")))
if "races" in sys.argv:
    row("swapped for a link", swapped_link)
    row("swapped for another socket", swapped_descriptor)
row("own, in the project", lambda: own(os.path.abspath("own.sock")))
row("own, in /tmp", lambda: own(f"{PLACE}/own.sock"))
row("own, abstract", lambda: own(f"\0{PLACE}"))
row("own, packets", lambda: own(f"{PLACE}/packets.sock", socket.SOCK_SEQPACKET))
row("own, a descriptor", passes_descriptor)
row("own, a datagram in the project", lambda: own_datagram(os.path.abspath("own-datagrams.sock")))
row("own, a datagram in /tmp", lambda: own_datagram(f"{PLACE}/datagrams.sock"))
row("own, an abstract datagram", lambda: own_datagram(f"\0d{PLACE}"))
row("own, a datagram by sendmsg", lambda: own_datagram(f"{PLACE}/message.sock", lambda one, to: one.sendmsg([b"o", b"wn"], [], 0, to)))
row("own, a connected datagram", lambda: own_datagram(f"{PLACE}/connected.sock", connected_datagram))
row("own, a datagram that is answered", answered_datagram)
row("own, a descriptor by datagram", passes_by_datagram)
row("own, a pair of datagrams", pair_of_datagrams)
print(json.dumps(out))
