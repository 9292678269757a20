/* The keeper of a resident Cordon: owns the socket, and keeps Node processes ready that accept from
 * it. It reads no request and performs none: a worker serves one at a time, and more are started
 * while all are busy. It ends after some minutes without a request, and when another build replaces
 * it. Idle workers end with it, a busy one after its command. */
#define _GNU_SOURCE
#include "../clock.h"
#include "resident.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  MAX_WORKERS = 8,
  BACKLOG = 64,
  IDLE_SECONDS = 600,
  EXTRA_SECONDS = 60, /* after which an extra worker is no longer needed */
  BUSY_MS = 20, /* all workers may be busy for so long: a hook is answered in less */
  DEAF_MS = 40, /* after which a worker that does not accept counts as frozen */
  MAX_FAILURES = 3,
  PAUSE_SECONDS = 60, /* before failing workers are started again */
  LOCK_TRIES = 20
};

enum state { NONE, STARTING, IDLE, BUSY };
static struct worker {
  pid_t pid;
  enum state state;
} workers[MAX_WORKERS];

static struct {
  const char *program[2];
  char own[4096];
  struct stamp stamp, files;
  int place, listener, words[2], quit[2];
  char socket_name[64], lock_path[128];
  long idle_seconds;
} keeper;

static int count(enum state state) {
  int found = 0;
  for (int i = 0; i < MAX_WORKERS; i++) found += workers[i].state == state;
  return found;
}

/* The build at its current paths, including this program. */
static int stamp_paths(struct stamp *into) {
  struct stat facts;
  if (!take_stamp(into, keeper.program) || stat(keeper.own, &facts)) return 0;
  into->facts[2][0] = facts.st_dev;
  into->facts[2][1] = facts.st_ino;
  return 1;
}

static int is_current(void) {
  struct stamp now;
  return stamp_paths(&now) && !memcmp(&now, &keeper.files, sizeof now);
}

/* One keeper per name: the kernel releases the lock with this process. The file must still be in
 * place once locked. */
static int take_lock(void) {
  char name[64], text[64];
  struct stat locked, placed;
  if (!name_resident(name, sizeof name, keeper.program, ".lock")) return 0;
  path_below(keeper.lock_path, sizeof keeper.lock_path, keeper.place, name);
  for (int tries = 0; tries < LOCK_TRIES; tries++) {
    int fd = open(keeper.lock_path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return 0;
    if (!flock(fd, LOCK_EX | LOCK_NB) && !fstat(fd, &locked) && !stat(keeper.lock_path, &placed) &&
        locked.st_ino == placed.st_ino) {
      int length = snprintf(text, sizeof text, "%d\n", (int)getpid());
      return !ftruncate(fd, 0) && write(fd, text, (size_t)length) == length;
    }
    close(fd);
    /* The keeper of an older build may be about to end. */
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
  }
  return 0;
}

static int listen_here(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (!name_resident(keeper.socket_name, sizeof keeper.socket_name, keeper.program, ".socket")) return 0;
  path_below(address.sun_path, sizeof address.sun_path, keeper.place, keeper.socket_name);
  keeper.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (keeper.listener < 0 || (unlink(address.sun_path) && errno != ENOENT)) return 0;
  return !bind(keeper.listener, (struct sockaddr *)&address, sizeof address) &&
         !listen(keeper.listener, BACKLOG);
}

static void stop_listening(void) {
  char path[128];
  path_below(path, sizeof path, keeper.place, keeper.socket_name);
  unlink(path);
  if (keeper.listener >= 0) shutdown(keeper.listener, SHUT_RDWR), close(keeper.listener);
  keeper.listener = -1;
}

/* Removes the socket; the directory stays, because another keeper may use it. */
static _Noreturn void end(void) {
  char place[4096], path[64];
  stop_listening();
  unlink(keeper.lock_path);
  snprintf(path, sizeof path, "/proc/self/fd/%d", keeper.place);
  ssize_t length = readlink(path, place, sizeof place - 1);
  if (length > 0) place[length] = 0, rmdir(place);
  _exit(0);
}

/* Starts Node with the listener, its status pipe, and a pipe that ends with the keeper. */
static void start_worker(void) {
  struct worker *free_place = NULL;
  char hex[2 * sizeof(struct stamp) + 1], seconds[32];
  for (int i = 0; i < MAX_WORKERS && !free_place; i++)
    if (workers[i].state == NONE) free_place = &workers[i];
  if (!free_place) return;
  if (!is_current()) end();
  long idle = count(IDLE) + count(BUSY) + count(STARTING) == 0 ? keeper.idle_seconds * 2 : EXTRA_SECONDS;
  const uint8_t *bytes = (const uint8_t *)&keeper.stamp;
  for (size_t i = 0; i < sizeof keeper.stamp; i++) snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
  snprintf(seconds, sizeof seconds, "%ld", idle);
  pid_t pid = fork();
  if (pid == 0) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    const int given[] = {keeper.listener, keeper.words[1], keeper.quit[0]};
    int lifted[3];
    for (int i = 0; i < 3; i++) lifted[i] = fcntl(given[i], F_DUPFD_CLOEXEC, QUIT_FD + 1);
    for (int i = 0; i < 3; i++)
      if (lifted[i] < 0 || dup2(lifted[i], LISTENER_FD + i) < 0) _exit(1);
    char *words[] = {
        (char *)keeper.program[0], (char *)keeper.program[1], "resident", "serve", seconds, hex, NULL};
    execv(words[0], words);
    _exit(1);
  }
  if (pid > 0) *free_place = (struct worker){pid, STARTING};
}

/* Reads a worker's status; true if it concerned a request. */
static int read_word(const struct word *word) {
  if (word->state == 'S' && !is_current()) end();
  for (int i = 0; i < MAX_WORKERS; i++) {
    if (workers[i].state == NONE || workers[i].pid != word->pid) continue;
    int is_request = word->state == 'B';
    if (word->state == 'I') workers[i].state = IDLE;
    if (word->state == 'B') workers[i].state = BUSY;
    return is_request;
  }
  return 0;
}

/* Reaps ended workers; returns how many had never been ready. */
static int reap(void) {
  int unready = 0;
  for (pid_t pid; (pid = waitpid(-1, NULL, WNOHANG)) > 0;)
    for (int i = 0; i < MAX_WORKERS; i++)
      if (workers[i].state != NONE && workers[i].pid == pid) {
        unready += workers[i].state == STARTING;
        workers[i].state = NONE;
      }
  return unready;
}

static void detach(void) {
  struct sigaction usual = {.sa_handler = SIG_DFL};
  setsid();
  for (int number = 1; number < NSIG; number++) sigaction(number, &usual, NULL);
  signal(SIGPIPE, SIG_IGN);
  int nothing = open("/dev/null", O_RDWR);
  for (int fd = 0; fd <= 2; fd++) dup2(nothing, fd);
  close_range(3, ~0U, 0);
  (void)!chdir("/");
  umask(077);
}

int keep_resident(const char *const program[2], const char *runtime_directory, long idle_seconds) {
  sigset_t handled;
  memcpy(keeper.program, program, sizeof keeper.program);
  keeper.idle_seconds = idle_seconds > 0 ? idle_seconds : IDLE_SECONDS;
  detach();
  ssize_t length = readlink("/proc/self/exe", keeper.own, sizeof keeper.own - 1);
  keeper.place = open_place(runtime_directory, 1);
  if (length <= 0 || keeper.place < 0 || !take_lock()) return 1;
  if (!take_stamp(&keeper.stamp, program) || !stamp_paths(&keeper.files) || !listen_here()) return 1;
  if (pipe2(keeper.words, O_CLOEXEC | O_NONBLOCK) || pipe2(keeper.quit, O_CLOEXEC)) return 1;
  sigemptyset(&handled);
  sigaddset(&handled, SIGCHLD);
  sigaddset(&handled, SIGTERM);
  sigprocmask(SIG_BLOCK, &handled, NULL);
  int signals = signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK);
  int64_t last_request = now_ms(), all_busy_since = -1, called_since = -1;
  int failures = 0;
  start_worker();
  for (;;) {
    int64_t now = now_ms(), next = last_request + keeper.idle_seconds * 1000;
    if (now >= next && count(BUSY) == 0) end();
    if (now >= next) next = now + 1000;
    if (failures >= MAX_FAILURES) {
      /* Keep the lock for a while, so that not every call starts another keeper in vain. */
      stop_listening();
      sigdelset(&handled, SIGCHLD);
      sigtimedwait(&handled, NULL, &(struct timespec){.tv_sec = PAUSE_SECONDS});
      end();
    }
    int ready = count(IDLE) + count(STARTING);
    if (ready > 0) all_busy_since = -1;
    else if (count(BUSY) == 0) start_worker();
    else if (all_busy_since < 0) all_busy_since = now;
    else if (now - all_busy_since >= BUSY_MS) start_worker();
    if (all_busy_since >= 0 && count(STARTING) == 0 && next > all_busy_since + BUSY_MS)
      next = all_busy_since + BUSY_MS;
    if (called_since >= 0 && now - called_since >= DEAF_MS) {
      struct pollfd unanswered = {keeper.listener, POLLIN, 0};
      if (poll(&unanswered, 1, 0) > 0 && count(STARTING) == 0) start_worker();
      called_since = -1;
    }
    if (called_since >= 0 && next > called_since + DEAF_MS) next = called_since + DEAF_MS;
    struct pollfd waits[] = {{keeper.words[0], POLLIN, 0},
                             {signals, POLLIN, 0},
                             {called_since < 0 ? keeper.listener : -1, POLLIN, 0}};
    poll(waits, 3, next <= now ? 1 : (int)(next - now));
    if (waits[2].revents) called_since = now_ms();
    struct word word;
    while (read(keeper.words[0], &word, sizeof word) == (ssize_t)sizeof word) {
      /* A connection was accepted; any waiting one is new. */
      if (read_word(&word)) last_request = now_ms(), called_since = -1;
      if (word.state == 'I') failures = 0;
    }
    struct signalfd_siginfo signal;
    while (read(signals, &signal, sizeof signal) > 0)
      if (signal.ssi_signo == SIGTERM) end();
    failures += reap();
  }
}
