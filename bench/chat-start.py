"""Times programs at a pseudo-terminal from their start: one until it ends, one until it has shown a sign. Milliseconds, one JSON line."""
import json, os, pty, select, signal, sys, time

def timed(argv, sign):
    started = time.perf_counter()
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(argv[0], argv)
    shown, seen = None, b''
    while True:
        ready, _, _ = select.select([terminal], [], [], 20)
        try:
            piece = os.read(terminal, 65536) if ready else b''
        except OSError:
            piece = b''
        if not piece:
            break
        seen += piece
        if sign and sign in seen:
            shown = time.perf_counter()
            os.kill(pid, signal.SIGKILL)
            break
    os.waitpid(pid, 0)
    ended = time.perf_counter()
    os.close(terminal)
    if sign and shown is None:
        sys.exit('nothing was shown: ' + seen.decode('utf8', 'replace'))
    return ((shown or ended) - started) * 1000

rounds, rows = json.loads(sys.argv[1]), json.loads(sys.argv[2])
times = {row['name']: [] for row in rows}
for number in range(rounds + 3):
    for row in rows:
        took = timed(row['argv'], row['shows'].encode() if row['shows'] else None)
        if number >= 3:
            times[row['name']].append(took)
print(json.dumps(times))
