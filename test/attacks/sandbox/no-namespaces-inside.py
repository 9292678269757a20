"""Ways out of a sandbox without namespaces: what each reached, as JSON. far.json describes the world."""
import ctypes, fcntl, json, os, resource, signal, socket, sys, threading, time

far = json.load(open('far.json'))
for made in ('own.sock', 'linked'):
    if os.path.lexists(made):
        os.unlink(made)
libc = ctypes.CDLL(None, use_errno=True)
seen = {}
FREE = 'free' in sys.argv  # without a sandbox, to see that each works


def way(name, harmless=True):
    def take(f):
        if FREE and not harmless:
            return f
        try:
            seen[name] = f()
        except BaseException as error:
            seen[name] = type(error).__name__
        return f
    return take


def content(path):
    with open(path, 'rb') as file:
        return 'reached' if b'TOPSECRET' in file.read() else 'other'


@way('a secret by a descriptor of its path alone')
def _():
    return content('/proc/self/fd/%d' % os.open('.env', os.O_PATH))


@way('a file outside by a descriptor of its path alone')
def _():
    return content('/proc/self/fd/%d' % os.open(far['secret'], os.O_PATH))


@way('a link to a file outside by its descriptor')
def _():
    fd = os.open(far['secret'], os.O_PATH)
    if libc.linkat(-100, b'/proc/self/fd/%d' % fd, -100, b'linked', 0x400):
        raise OSError(ctypes.get_errno())
    return content('linked')


@way('the folder of a process')
def _():
    return content('/proc/self/root' + far['secret'])


@way('a listing outside')
def _():
    return 'reached' if os.listdir(os.path.dirname(far['secret'])) else 'other'


@way('a file outside, for neither reading nor writing')
def _():
    os.open(far['target'], 3)
    return 'reached'


@way('emptying a file outside')
def _():
    os.truncate(far['target'], 0)
    return 'reached'


@way('a mode outside')
def _():
    os.chmod(far['target'], 0o666)
    return 'reached'


@way('times outside by a descriptor for reading')
def _():
    os.utime(os.open(far['shown'], os.O_RDONLY), (1, 1))
    return 'reached'


@way('an attribute of a shown file')
def _():
    os.setxattr(far['shown'], 'user.x', b'1')
    return 'reached'


@way('writing what is open for reading')
def _():
    with open('/proc/self/fd/%d' % os.open(far['shown'], os.O_RDONLY), 'w'):
        return 'reached'


@way('the environment of the parent')
def _():
    return 'reached' if open('/proc/%d/environ' % os.getppid(), 'rb').read(1) else 'other'


@way('the memory of the parent')
def _():
    open('/proc/%d/mem' % os.getppid(), 'rb')
    return 'reached'


@way('the words of a process outside')
def _():
    return 'reached' if open('/proc/%d/cmdline' % far['pid'], 'rb').read(1) else 'other'


@way('a signal to the parent', harmless=False)
def _():
    os.kill(os.getppid(), signal.SIGKILL)
    return 'reached'


@way('a signal to a process outside')
def _():
    os.kill(far['pid'], 0)
    return 'reached'


@way('a signal by the kernel in its name')
def _():
    fcntl.fcntl(0, fcntl.F_SETOWN, far['pid'])
    return 'reached'


@way('a limit of a process outside')
def _():
    resource.prlimit(far['pid'], resource.RLIMIT_CORE, (0, 0))
    return 'reached'


@way('a server outside')
def _():
    socket.create_connection(('127.0.0.1', far['port']), 2)
    return 'reached'


@way('a server outside, by IPv6')
def _():
    with socket.socket(socket.AF_INET6) as s:
        s.connect(('::ffff:127.0.0.1', far['port']))
    return 'reached'


@way('a server outside, while it sends')
def _():
    with socket.socket() as s:
        s.sendto(b'x', 0x20000000, ('127.0.0.1', far['port']))
    return 'reached'


@way('a datagram')
def _():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.sendto(b'x', ('127.0.0.1', far['port']))
    return 'reached'


@way('a socket of the host in the project')
def _():
    with socket.socket(socket.AF_UNIX) as s:
        s.connect('host.sock')
    return 'reached'


@way('an abstract name')
def _():
    with socket.socket(socket.AF_UNIX) as s:
        s.bind('\0' + 'x' * 20)
    return 'reached'


@way('every address')
def _():
    with socket.socket() as s:
        s.bind(('0.0.0.0', 0))
        return s.getsockname()[0]


@way('every address, unbound')
def _():
    with socket.socket() as s:
        s.listen()
        return s.getsockname()[0]


@way('shared memory')
def _():
    number = libc.shmget(0, 4096, 0o1600)
    if number < 0:
        return 'refused'
    libc.shmctl(number, 0, None)
    return 'reached'


@way('its own server')
def _():
    with socket.socket() as s, socket.socket() as c:
        s.bind(('127.0.0.1', 0))
        s.listen()
        c.connect(s.getsockname())
        s.accept()[0].sendall(b'own')
        return c.recv(3).decode()


@way('its own socket')
def _():
    with socket.socket(socket.AF_UNIX) as s, socket.socket(socket.AF_UNIX) as c:
        s.bind('own.sock')
        s.listen()
        c.connect('own.sock')
        s.accept()[0].sendall(b'own')
        return c.recv(3).decode()


def race(buffer, one, other, attempt, seconds=20 if FREE else 0.5):
    """Something else is in the memory by the time that the kernel, or what acts for it, reads it again."""
    stop = []

    def flip():
        while not stop:
            ctypes.memmove(buffer, one, len(one))
            ctypes.memmove(buffer, other, len(other))

    thread = threading.Thread(target=flip, daemon=True)
    thread.start()
    end, found = time.time() + seconds, 'never'
    while time.time() < end and found == 'never':
        found = attempt()
    stop.append(1)
    thread.join()
    return found


@way('a path that changes while it is opened')
def _():
    path = ctypes.create_string_buffer(32)

    def attempt():
        fd = libc.open(path, os.O_RDONLY)
        if fd < 0:
            return 'never'
        with os.fdopen(fd, 'rb') as file:
            return 'reached' if b'TOPSECRET' in file.read() else 'never'

    return race(path, b'plain\0', b'.env\0\0', attempt)


@way('a path that changes while its mode is set')
def _():
    path = ctypes.create_string_buffer(4096)
    there = far['target'].encode() + b'\0'

    def attempt():
        libc.chmod(path, 0o666)
        return 'reached' if os.stat(far['target']).st_mode & 0o777 == 0o666 else 'never'

    return race(path, b'plain'.ljust(len(there), b'\0'), there, attempt)


@way('an address that changes while it is connected to')
def _():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        s.listen(128)
        s.setblocking(False)
        family = (2).to_bytes(2, sys.byteorder)
        at = [family + port.to_bytes(2, 'big') + bytes([127, 0, 0, 1]) + bytes(8) for port in (s.getsockname()[1], far['port'])]
        address = ctypes.create_string_buffer(16)

        def attempt():
            with socket.socket() as c:
                bad = libc.connect(c.fileno(), address, 16)
                try:
                    s.accept()[0].close()
                except BlockingIOError:
                    pass
                try:
                    return 'never' if bad or c.getpeername()[1] != far['port'] else 'reached'
                except OSError:
                    return 'never'

        return race(address, at[0], at[1], attempt)


# What leaves its parent, its group and its session is of the sandbox all the same.
if not FREE and os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            with open('alive', 'a') as file:
                file.write('x')
            time.sleep(0.02)
    os._exit(0)

print(json.dumps(seen))
