/* Watches the command: its end, its limits and the parent's requests. Kills everything that is
 * left. */
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

/* Returns 0 if a program start is being checked: try again. */
static int reap(void) {
  int status;
  pid_t pid;
  if (!may_reap()) return 0;
  while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
    if (pid != command_pid) continue;
    if (WIFSTOPPED(status)) {
      send_message(MESSAGE_STOPPED, (uint32_t)WSTOPSIG(status), 0, 0);
      continue;
    }
    status_known = 1;
    final_status = status;
  }
  done_reaping();
  return 1;
}

static int pending_signal;

/* The parent checks once more while the masks are mounted and the command has not started: the
 * result then applies to it. */
void wait_at_gate(void) {
  uint8_t message[6];
  send_message(MESSAGE_GATE, 0, 0, 0);
  for (;;) {
    read_exactly(control, message, sizeof message);
    if (message[0] == WORD_GO) return;
    if (message[0] == WORD_SIGNAL) pending_signal = message[1];
    if (message[0] == WORD_QUIT) _exit(128 + SIGKILL);
    if (message[0] != WORD_SIGNAL && message[0] != WORD_SIZE) {
      errno = EPROTO;
      fail(STEP_GATE);
    }
  }
}

static uint64_t deadline; /* here, because a busy parent must not give the command more time */

/* Until the command runs, or has failed to. Its own start may be judged by the parent. */
void wait_for_start(int report) {
  for (;;) {
    uint8_t message[6];
    struct pollfd wait[] = {{.fd = report, .events = POLLIN}, {.fd = control, .events = POLLIN}};
    if (poll(wait, 2, -1) < 0) continue;
    if (wait[0].revents) break;
    ssize_t n = recv(control, message, sizeof message, MSG_WAITALL);
    if (n < 0 && errno == EINTR) continue;
    if (n != (ssize_t)sizeof message || message[0] == WORD_QUIT) _exit(128 + SIGKILL);
    if (message[0] == WORD_JUDGED)
      programs_decide(u16_at(message + 2) | (uint32_t)u16_at(message + 4) << 16, message[1]);
    if (message[0] == WORD_SIGNAL) pending_signal = message[1];
    if (message[0] == WORD_SIZE && setup.has_terminal)
      resize_terminal(u16_at(message + 2), u16_at(message + 4));
  }
  deadline = now_ms() + setup.milliseconds;
}

uint64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Returns 0 if the parent is gone or ends the sandbox. */
static int take_message(void) {
  uint8_t message[6];
  ssize_t n = recv(control, message, sizeof message, MSG_WAITALL);
  if (n < 0 && errno == EINTR) return 1;
  if (n != (ssize_t)sizeof message) return 0;
  if (message[0] == WORD_SIGNAL && message[1] > 0 && message[1] < NSIG) {
    kill(-command_pid, message[1]);
    return 1;
  }
  if (message[0] == WORD_SIZE && setup.has_terminal) {
    resize_terminal(u16_at(message + 2), u16_at(message + 4));
    return 1;
  }
  if (message[0] == WORD_JUDGED) {
    programs_decide(u16_at(message + 2) | (uint32_t)u16_at(message + 4) << 16, message[1]);
    return 1;
  }
  if (message[0] == WORD_CONNECT) return answer_connect(u16_at(message + 2), u16_at(message + 4));
  return 0; /* Q, and any unknown message */
}

/* Nothing else may run when the end is reported: the parent continues from there. */
static void kill_and_reap(int signals) {
  if (bare_is_on()) bare_end();
  else kill(-1, SIGKILL);
  for (int tries = 0; tries < 100; tries++) {
    struct pollfd wait = {.fd = signals, .events = POLLIN};
    struct signalfd_siginfo info;
    if (reap() && waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD) return;
    if (bare_is_on()) bare_kill();
    poll(&wait, 1, 50); /* a process in an uninterruptible sleep delays the end of this one too */
    while (read(signals, &info, sizeof info) == (ssize_t)sizeof info) continue;
  }
}

static _Noreturn void finish(int signals, int is_killed) {
  if (is_killed) final_status = SIGKILL; /* as waitpid reports it, unless it ended by itself */
  kill_and_reap(signals);
  broker_shut();
  learn_report();
  if (programs_is_on()) programs_tell();
  private_home_report();
  int signalled = WIFSIGNALED(final_status);
  int code = signalled ? WTERMSIG(final_status) : WEXITSTATUS(final_status);
  /* The caller of a terminal reads to the end of its output. It learns the end first, so that it can
   * drop what a stopped terminal (Ctrl-S) does not take, instead of waiting for it. */
  if (setup.has_terminal) send_message(MESSAGE_ENDED, (uint32_t)signalled, (uint32_t)code, 0);
  drain_pumps();
  give_input_back();
  if (!is_killed && setup.has_terminal) drain_terminal();
  if (!setup.has_terminal) send_message(MESSAGE_ENDED, (uint32_t)signalled, (uint32_t)code, 0);
  _exit(signalled ? 128 + code : code);
}

static uint64_t last_turn;

/* A person may be asked about a program: that time does not count. */
static void hold_clock(void) {
  uint64_t now = now_ms();
  if (last_turn && programs_waiting()) deadline += now - last_turn;
  last_turn = now;
}

static int next_memory_check = -1;

/* Returns 1 if everything is to be ended. */
static int check_memory(void) {
  pid_t found = memory_check(now_ms(), &next_memory_check);
  if (found == 0) return 0;
  send_message(MESSAGE_MEMORY, (uint32_t)(memory_limit() / 1024), found < 0, 0);
  if (found > 0) kill(found, SIGKILL);
  return found < 0;
}

#define PROCESS_LOOK_MS 1000

static uint64_t next_process_check;
static int processes_reported;

/* The kernel uses the first 300 numbers of a pid namespace once only, so it can be full with fewer
 * processes. */
#define NUMBERS_GIVEN_ONCE 300

static int can_fork(void) {
  pid_t child = fork();
  if (child == 0) _exit(0);
  return child > 0; /* reaped with the others */
}

/* The init, its broker thread and the command: with this limit one process fills it. */
#define FULL_FROM_THE_START 3

/* The kernel counts refused forks only for a control group: a full sandbox has reached its limit. */
static void check_processes(int last) {
  uint64_t most = 0, there = 0;
  if (bare_is_on() || processes_reported || (!last && now_ms() < next_process_check)) return;
  next_process_check = now_ms() + PROCESS_LOOK_MS;
  for (size_t i = 0; i < setup.limit_count; i++)
    if (setup.limits[i].which == RLIMIT_NPROC) most = setup.limits[i].limit;
  DIR *all = most > FULL_FROM_THE_START ? opendir("/proc") : NULL;
  if (!all) return;
  for (struct dirent *entry; (entry = readdir(all));)
    there += entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
  closedir(all);
  there += broker_is_on();
  if (there < most && (there + NUMBERS_GIVEN_ONCE < most || can_fork())) return;
  processes_reported = 1;
  send_message(MESSAGE_PROCESSES, 0, 0, 0);
}

#define REAP_AGAIN_MS 1

static int is_reaping;

static int wait_at_most(void) {
  int look = is_reaping ? REAP_AGAIN_MS : PROCESS_LOOK_MS, servers = servers_wait_ms();
  if (servers >= 0 && servers < look) look = servers;
  if (next_memory_check >= 0 && next_memory_check < look) look = next_memory_check;
  if (!setup.milliseconds) return look;
  uint64_t now = now_ms();
  uint64_t left = deadline > now ? deadline - now : 0;
  if (left > 1000u * 3600) left = 1000u * 3600;
  return (uint64_t)look < left ? look : (int)left;
}

void start_clocks(void) {
  deadline = now_ms() + setup.milliseconds;
  private_home_start();
  if (!setup.memory_share) return;
  if (memory_open(setup.memory_share)) fail(STEP_LIMITS);
  next_memory_check = 0;
}

/* Indices of the polled descriptors: the init's, followed by those of each part. */
enum { WATCH_CONTROL, WATCH_SIGNALS, WATCH_MASKS, WATCH_MOUNTS, WATCH_IPC, OF_TERMINAL };
#define OF_STREAMS (OF_TERMINAL + TERMINAL_FDS)
#define OF_NAMES (OF_STREAMS + STREAM_FDS)
#define OF_SERVERS (OF_NAMES + NAMES_FDS)
#define OF_SOCKETS (OF_SERVERS + SERVER_FDS)

_Noreturn void watch_over(int signals, int watch, int mounts) {
  if (pending_signal > 0 && pending_signal < NSIG) kill(-command_pid, pending_signal);
  for (;;) {
    struct pollfd fds[OF_SOCKETS + MAX_SOCKETS] = {
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
    if (poll(fds, (nfds_t)(OF_SOCKETS + local_sockets_count()), wait_at_most()) < 0 && errno != EINTR)
      _exit(FAULT_STATUS);
    hold_clock();
    names_serve(fds + OF_NAMES);
    local_sockets_serve(fds + OF_SOCKETS);
    streams_serve(fds + OF_STREAMS);
    if (fds[WATCH_IPC].revents) drain_acks();
    servers_serve(fds + OF_SERVERS);
    if (fds[WATCH_MASKS].revents & POLLIN) report_opens(watch);
    if (fds[WATCH_MOUNTS].revents & (POLLPRI | POLLERR)) report_lifted();
    if (setup.milliseconds && now_ms() >= deadline) {
      send_message(MESSAGE_TIMEOUT, 0, 0, 0);
      finish(signals, 1);
    }
    check_processes(0);
    if (setup.memory_share && check_memory()) finish(signals, 1);
    if (fds[WATCH_CONTROL].revents && !take_message()) finish(signals, 1);
    if (is_reaping || (fds[WATCH_SIGNALS].revents & POLLIN)) {
      struct signalfd_siginfo info;
      while (read(signals, &info, sizeof info) == (ssize_t)sizeof info) continue;
      is_reaping = !reap();
      if (status_known) {
        check_processes(1);
        if (watch >= 0) report_opens(watch);
        finish(signals, 0);
      }
    }
    if (setup.has_terminal) terminal_serve();
  }
}
