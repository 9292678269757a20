"""A terminal for a test: a shell with job control on a pty, keys from stdin, its output on stdout, and on fd 3 lines: "R rows cols" is a size, "P file" a pause in the typing."""
import fcntl, os, pty, select, struct, sys, termios, time

rows, cols = int(sys.argv[1]), int(sys.argv[2])
pid, master = pty.fork()
if pid == 0:
    os.execvp(sys.argv[3], sys.argv[3:])


def resize(rows, cols):
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))


resize(rows, cols)
watched = [0, 3, master]
while True:
    for fd in select.select(watched, [], [])[0]:
        try:
            data = os.read(fd, 65536)
        except OSError:
            data = b""
        if fd == 3:
            for line in data.decode().splitlines():
                if line.startswith("P "):
                    # The kernel hands keys on a moment later: those that were sent before a pause were typed before it.
                    time.sleep(0.05)
                    with open(line[2:], "a") as pauses:
                        pauses.write(".")
                    continue
                _, new_rows, new_cols = line.split()
                resize(int(new_rows), int(new_cols))
            if not data:
                watched.remove(3)
        elif fd == 0:
            if not data:
                watched.remove(0)
            while data:
                data = data[os.write(master, data):]
        else:
            if not data:
                _, status = os.waitpid(pid, 0)
                sys.exit(os.waitstatus_to_exitcode(status) & 0xFF)
            os.write(1, data)
