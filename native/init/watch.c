/* Watches over the command: its end, its limits, what the parent asks for; and sees to it that nothing is left. */
#define _GNU_SOURCE
#include "init.h"
#include "../bare/bare.h"
#include "../broker/broker.h"
#include "learn.h"
#include "local-sockets.h"
#include "memory.h"
#include "names.h"
#include "private-home.h"
#include "../programs/programs.h"
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

pid_t command_pid;
static int status_known, final_status;

/* Returns 0 when a program start is being checked, and it has to be tried again. */
static int reap(void) {
  int status;
  pid_t pid;
  if (!may_reap()) return 0;
  while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
    if (pid != command_pid) continue;
    if (WIFSTOPPED(status)) {
      tell('S', (uint32_t)WSTOPSIG(status), 0, 0);
      continue;
    }
    status_known = 1;
    final_status = status;
  }
  done_reaping();
  return 1;
}

static int pending_signal;

/* The parent takes a last look while the masks are in place and the command is not: what it saw then holds for it. */
void wait_at_gate(void) {
  uint8_t message[6];
  tell('G', 0, 0, 0);
  for (;;) {
    read_exactly(control, message, sizeof message);
    if (message[0] == 'G') return;
    if (message[0] == 'K') pending_signal = message[1];
    if (message[0] == 'Q') _exit(128 + SIGKILL);
    if (message[0] != 'K' && message[0] != 'W') {
      errno = EPROTO;
      fail(STEP_GATE);
    }
  }
}

static uint64_t deadline; /* kept here: the parent may be busy, and the command must not win time by that */

/* Until the command runs, or has failed to. Its own first start may be one that the parent is asked about. */
void wait_for_start(int report) {
  for (;;) {
    uint8_t message[6];
    struct pollfd wait[] = {{.fd = report, .events = POLLIN}, {.fd = control, .events = POLLIN}};
    if (poll(wait, 2, -1) < 0) continue;
    if (wait[0].revents) break;
    ssize_t n = recv(control, message, sizeof message, MSG_WAITALL);
    if (n < 0 && errno == EINTR) continue;
    if (n != (ssize_t)sizeof message || message[0] == 'Q') _exit(128 + SIGKILL);
    if (message[0] == 'J') programs_decide(u16_at(message + 2) | (uint32_t)u16_at(message + 4) << 16, message[1]);
    if (message[0] == 'K') pending_signal = message[1];
    if (message[0] == 'W' && orders.has_terminal) resize_terminal(u16_at(message + 2), u16_at(message + 4));
  }
  deadline = now_ms() + orders.milliseconds;
}

uint64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Returns 0 when the parent is gone or asks for the end. */
static int take_message(void) {
  uint8_t message[6];
  ssize_t n = recv(control, message, sizeof message, MSG_WAITALL);
  if (n < 0 && errno == EINTR) return 1;
  if (n != (ssize_t)sizeof message) return 0;
  if (message[0] == 'K' && message[1] > 0 && message[1] < NSIG) {
    kill(-command_pid, message[1]);
    return 1;
  }
  if (message[0] == 'W' && orders.has_terminal) {
    resize_terminal(u16_at(message + 2), u16_at(message + 4));
    return 1;
  }
  if (message[0] == 'J') {
    programs_decide(u16_at(message + 2) | (uint32_t)u16_at(message + 4) << 16, message[1]);
    return 1;
  }
  if (message[0] == 'C') return answer_connect(u16_at(message + 2), u16_at(message + 4));
  return 0; /* Q, and whatever is not understood */
}

/* Nothing but this process may be left when the end is told: the parent goes on from there. */
static void kill_and_reap(int signals) {
  if (bare_is_on()) bare_end();
  else kill(-1, SIGKILL);
  for (int tries = 0; tries < 100; tries++) {
    struct pollfd wait = {.fd = signals, .events = POLLIN};
    struct signalfd_siginfo info;
    if (reap() && waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD) return;
    if (bare_is_on()) bare_kill();
    poll(&wait, 1, 50); /* one that sleeps in the kernel cannot be hurried; the end of this process waits for it too */
    while (read(signals, &info, sizeof info) == (ssize_t)sizeof info) continue;
  }
}

static _Noreturn void finish(int signals, int is_killed) {
  if (is_killed) final_status = SIGKILL; /* as waitpid would say it, unless it has ended by itself */
  kill_and_reap(signals);
  broker_shut();
  learn_tell();
  if (programs_is_on()) programs_tell();
  private_home_tell();
  drain_pumps();
  give_input_back();
  if (!is_killed && orders.has_terminal) drain_terminal();
  int signalled = WIFSIGNALED(final_status);
  int code = signalled ? WTERMSIG(final_status) : WEXITSTATUS(final_status);
  tell('X', (uint32_t)signalled, (uint32_t)code, 0);
  _exit(signalled ? 128 + code : code);
}

static uint64_t last_turn;

/* A person may be asked about a program: that time is not the command's. */
static void hold_clock(void) {
  uint64_t now = now_ms();
  if (last_turn && programs_waiting()) deadline += now - last_turn;
  last_turn = now;
}

static int next_memory_look = -1;

/* Returns 1 when everything is to be ended. */
static int look_at_memory(void) {
  pid_t found = memory_look(now_ms(), &next_memory_look);
  if (found == 0) return 0;
  tell('M', (uint32_t)(memory_limit() / 1024), found < 0, 0);
  if (found > 0) kill(found, SIGKILL);
  return found < 0;
}

#define PROCESS_LOOK_MS 1000

static uint64_t next_process_look;
static int processes_told;

/* The kernel gives the first 300 numbers of a pid namespace out once only, so it can be full with so many fewer. */
#define NUMBERS_GIVEN_ONCE 300

static int can_fork(void) {
  pid_t child = fork();
  if (child == 0) _exit(0);
  return child > 0; /* reaped with the others */
}

/* The init, its thread that makes changes and the command: a command of one process is full from its start to its end. */
#define FULL_FROM_THE_START 3

/* The kernel counts refused forks only for a control group: a sandbox that is full when it is checked has met its limit. */
static void look_at_processes(int last) {
  uint64_t most = 0, there = 0;
  if (bare_is_on() || processes_told || (!last && now_ms() < next_process_look)) return;
  next_process_look = now_ms() + PROCESS_LOOK_MS;
  for (size_t i = 0; i < orders.limit_count; i++)
    if (orders.limits[i].which == RLIMIT_NPROC) most = orders.limits[i].limit;
  DIR *all = most > FULL_FROM_THE_START ? opendir("/proc") : NULL;
  if (!all) return;
  for (struct dirent *entry; (entry = readdir(all));) there += entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
  closedir(all);
  there += broker_is_on();
  if (there < most && (there + NUMBERS_GIVEN_ONCE < most || can_fork())) return;
  processes_told = 1;
  tell('P', 0, 0, 0);
}

#define REAP_AGAIN_MS 1

static int is_reaping;

static int wait_at_most(void) {
  int look = is_reaping ? REAP_AGAIN_MS : PROCESS_LOOK_MS, servers = servers_wait_ms();
  if (servers >= 0 && servers < look) look = servers;
  if (next_memory_look >= 0 && next_memory_look < look) look = next_memory_look;
  if (!orders.milliseconds) return look;
  uint64_t now = now_ms();
  uint64_t left = deadline > now ? deadline - now : 0;
  if (left > 1000u * 3600) left = 1000u * 3600;
  return (uint64_t)look < left ? look : (int)left;
}

void start_clocks(void) {
  deadline = now_ms() + orders.milliseconds;
  private_home_start();
  if (!orders.memory_share) return;
  if (memory_open(orders.memory_share)) fail(STEP_LIMITS);
  next_memory_look = 0;
}

/* Of the descriptors that are waited for: its own, and behind them those of each part. */
enum { WATCH_CONTROL, WATCH_SIGNALS, WATCH_MASKS, WATCH_MOUNTS, WATCH_IPC, OF_TERMINAL };
#define OF_STREAMS (OF_TERMINAL + TERMINAL_FDS)
#define OF_NAMES (OF_STREAMS + STREAM_FDS)
#define OF_SERVERS (OF_NAMES + NAMES_FDS)
#define OF_SOCKETS (OF_SERVERS + SERVER_FDS)

_Noreturn void watch_over(int signals, int watch, int mounts) {
  if (pending_signal > 0 && pending_signal < NSIG) kill(-command_pid, pending_signal);
  for (;;) {
    struct pollfd fds[OF_SOCKETS + LOCAL_SOCKETS] = {
        [WATCH_CONTROL] = {.fd = control, .events = POLLIN},
        [WATCH_SIGNALS] = {.fd = signals, .events = POLLIN},
        [WATCH_MASKS] = {.fd = watch, .events = POLLIN},
        [WATCH_MOUNTS] = {.fd = mounts, .events = POLLPRI},
        [WATCH_IPC] = {.fd = ipc, .events = POLLIN},
    };
    terminal_watch(fds + OF_TERMINAL);
    streams_watch(fds + OF_STREAMS);
    names_watch(fds + OF_NAMES);
    servers_watch(fds + OF_SERVERS);
    local_sockets_watch(fds + OF_SOCKETS);
    if (poll(fds, (nfds_t)(OF_SOCKETS + local_sockets_count()), wait_at_most()) < 0 && errno != EINTR) _exit(FAULT_STATUS);
    hold_clock();
    names_serve(fds + OF_NAMES);
    local_sockets_serve(fds + OF_SOCKETS);
    streams_serve(fds + OF_STREAMS);
    if (fds[WATCH_IPC].revents) drain_acks();
    servers_serve(fds + OF_SERVERS);
    if (fds[WATCH_MASKS].revents & POLLIN) report_opens(watch);
    if (fds[WATCH_MOUNTS].revents & (POLLPRI | POLLERR)) report_lifted();
    if (orders.milliseconds && now_ms() >= deadline) {
      tell('T', 0, 0, 0);
      finish(signals, 1);
    }
    look_at_processes(0);
    if (orders.memory_share && look_at_memory()) finish(signals, 1);
    if (fds[WATCH_CONTROL].revents && !take_message()) finish(signals, 1);
    if (is_reaping || (fds[WATCH_SIGNALS].revents & POLLIN)) {
      struct signalfd_siginfo info;
      while (read(signals, &info, sizeof info) == (ssize_t)sizeof info) continue;
      is_reaping = !reap();
      if (status_known) {
        look_at_processes(1);
        if (watch >= 0) report_opens(watch);
        finish(signals, 0);
      }
    }
    if (orders.has_terminal) terminal_serve();
  }
}
