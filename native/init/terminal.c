/* The command's terminal, and its bytes to and from the caller. */
#define _GNU_SOURCE
#include "init.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

static int master = -1;
static int other_side = -1; /* kept open while the command runs: otherwise the terminal hangs up */
static struct relay in, out;
static int in_open, out_open;

void open_terminal(void) {
  struct winsize size = {.ws_row = setup.rows, .ws_col = setup.cols};
  int unlock = 0, type;
  socklen_t length = sizeof type;
  for (int fd = 0; fd < 2; fd++)
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length)) fail(STEP_TERMINAL);
  master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (master < 0 || ioctl(master, TIOCSPTLCK, &unlock)) fail(STEP_TERMINAL);
  other_side = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (other_side < 0 || ioctl(master, TIOCSWINSZ, &size)) fail(STEP_TERMINAL);
  in_open = out_open = 1;
}

/* The command's side. */
int terminal_fd(void) { return other_side; }

/* A new session with the inner terminal: the caller's is then out of reach. */
void own_terminal(void) {
  if (master >= 0 && ((getsid(0) != getpid() && setsid() < 0) || ioctl(other_side, TIOCSCTTY, 0)))
    fail(STEP_TERMINAL);
}

/* In the child. This process group becomes the foreground group of the init's session. It is not
 * orphaned, so Ctrl-Z can stop it. */
void enter_terminal(void) {
  if (setpgid(0, 0) || tcsetpgrp(other_side, getpid())) fail(STEP_TERMINAL);
  for (int fd = 0; fd < 3; fd++)
    if ((setup.terminal_fds >> fd & 1) && dup2(other_side, fd) < 0) fail(STEP_TERMINAL);
}

void resize_terminal(uint16_t rows, uint16_t cols) {
  struct winsize size = {.ws_row = rows, .ws_col = cols};
  ioctl(master, TIOCSWINSZ, &size);
}

void terminal_watch(struct pollfd *fds) {
  fds[0] = (struct pollfd){.fd = in_open && in.to == 0 ? 0 : -1, .events = POLLIN};
  fds[1] = (struct pollfd){.fd = out.to ? 1 : -1, .events = POLLOUT};
  fds[2] =
      (struct pollfd){.fd = master, .events = (short)((out.to == 0 ? POLLIN : 0) | (in.to ? POLLOUT : 0))};
}

void terminal_serve(void) {
  if (in_open && in.to == 0) {
    ssize_t n = recv(0, in.bytes, sizeof in.bytes, MSG_DONTWAIT);
    if (n > 0) in.to = (size_t)n;
    if (n == 0) { /* the end of input is the terminal's end-of-file character */
      in.bytes[0] = 4;
      in.to = 1;
    }
    if (n == 0 || (n < 0 && !is_blocked())) in_open = 0;
  }
  if (in.to) flush_relay(&in, master, 0);
  if (out.to == 0) {
    ssize_t n = read(master, out.bytes, sizeof out.bytes);
    if (n > 0) out.to = (size_t)n;
  }
  if (!out_open) out.from = out.to = 0;
  if (out.to && !flush_relay(&out, 1, 1)) {
    out_open = 0;
    out.from = out.to = 0;
    kill(-command_pid, SIGHUP);
  }
}

/* With all holders of the other side dead, the terminal reads to its end (EIO) without loss. */
void drain_terminal(void) {
  close(other_side);
  for (;;) {
    struct pollfd wait[2] = {{.fd = out.to ? 1 : master, .events = out.to ? POLLOUT : POLLIN},
                             {.fd = control, .events = 0}};
    if (poll(wait, 2, drain_wait_ms(out.to)) <= 0 || (wait[1].revents & (POLLHUP | POLLERR))) break;
    if (out.to) {
      if (!flush_relay(&out, 1, 1)) break;
      continue;
    }
    ssize_t n = read(master, out.bytes, sizeof out.bytes);
    if (n <= 0 && !(n < 0 && is_blocked())) break;
    if (n > 0) out.to = (size_t)n;
  }
  close(0);
  close(1);
}
