/*
 * Runs a sandbox from start to end, for a process that does nothing else meanwhile.
 *
 *   start(arguments, fds)
 *       Starts a program. `arguments` are NUL-terminated texts, the program first. `fds` are six int32: the
 *       init, the command's stdin, stdout and stderr, /dev/null, and the host's root. 0: started; 1: refused,
 *       because one of the command's streams is a terminal; negative: an errno.
 *   waits()
 *       1 while the started init is alive and the command's streams, 0 to 2, could be passed to it.
 *   attend(setup, signals, timeout, streams, judge)
 *       Sends the setup message, for a spare sandbox with `streams` 0 to 2 as the command's. Passes on these
 *       signals (a byte each), ends everything after so many milliseconds (0: never), and waits for the
 *       init's last message or its end. `judge` receives each message about a program start and returns bytes
 *       for the init. The result: int32 wait status, -1 if not waited for; u32 whether time ran out; u32
 *       length of the init's messages; the messages; bubblewrap's stderr.
 *   swap(number)
 *       Sets the started sandbox aside, under the number 0 or 1, and resumes the one that was there.
 *   abandon()
 *       Closes the connection, which ends the init if it is alive.
 *
 * It only carries bytes: src/sandbox/bwrap/launch-blocking.ts and init/ interpret them.
 */
#define _GNU_SOURCE
#include "../clock.h"
#include "../init/protocol.h"
#include "launch.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* as in src/sandbox/bwrap/args.ts */
enum { CONTROL_FD = 3, INIT_FD, STDIO_FD, IPC_FD = STDIO_FD + 3, HOST_FD, LAST_FD = HOST_FD };
enum { MESSAGE_BYTES = 16, ORDER_BYTES = 6, COMPLAINT_BYTES = 4096, GRACE_MS = 1000 };

static pid_t child = -1;
static int control = -1, complaints = -1;
static int hands_streams; /* until they are sent */

enum { ASIDE = 2 };
static struct {
  pid_t child;
  int control, complaints;
} aside[ASIDE] = {{-1, -1, -1}, {-1, -1, -1}};

struct bytes {
  uint8_t *at;
  size_t length;
};

static void append(struct bytes *to, const void *from, size_t length) {
  uint8_t *grown = realloc(to->at, to->length + length);
  if (!grown) abort();
  memcpy(grown + to->length, from, length);
  to->at = grown;
  to->length += length;
}

/* Moves a descriptor above the child's layout, so that no dup2 overwrites a source. */
static int lift(int fd) { return fcntl(fd, F_DUPFD_CLOEXEC, LAST_FD + 1); }

static int spawn_child(char **argv, const int32_t *fds) {
  int pair[2], pipe_ends[2], status, sources[LAST_FD + 1];
  char *no_environment[] = {NULL};
  posix_spawn_file_actions_t layout;
  posix_spawnattr_t manner;
  sigset_t none, all;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) return errno;
  if (pipe2(pipe_ends, O_CLOEXEC)) return errno;
  const int wanted[] = {fds[4], fds[4], pipe_ends[1], pair[1], fds[0],
                        fds[1], fds[2], fds[3],       fds[4],  fds[5]};
  posix_spawn_file_actions_init(&layout);
  for (int fd = 0; fd <= LAST_FD; fd++) {
    if ((sources[fd] = lift(wanted[fd])) < 0) return errno;
    posix_spawn_file_actions_adddup2(&layout, sources[fd], fd);
  }
  posix_spawn_file_actions_addchdir_np(&layout, "/");
  posix_spawnattr_init(&manner);
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&manner, &none);
  posix_spawnattr_setsigdefault(&manner, &all);
  /* Its own session: Ctrl-C at the caller's terminal reaches the caller, which decides what to pass
   * on. */
  posix_spawnattr_setflags(&manner, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  status = posix_spawn(&child, argv[0], &layout, &manner, argv, no_environment);
  posix_spawnattr_destroy(&manner);
  posix_spawn_file_actions_destroy(&layout);
  for (int fd = 0; fd <= LAST_FD; fd++) close(sources[fd]);
  close(pair[1]);
  close(pipe_ends[1]);
  control = pair[0];
  complaints = pipe_ends[0];
  fcntl(control, F_SETFL, O_NONBLOCK);
  fcntl(complaints, F_SETFL, O_NONBLOCK);
  return status;
}

napi_value start_sandbox(napi_env env, napi_callback_info info) {
  size_t count = 2, size, fd_bytes, words = 0;
  napi_value given[2], result;
  char *text;
  int32_t *fds, outcome = 0;
  if (napi_get_cb_info(env, info, &count, given, NULL, NULL) || count != 2 ||
      napi_get_buffer_info(env, given[0], (void **)&text, &size) || size == 0 || text[size - 1] != 0 ||
      napi_get_buffer_info(env, given[1], (void **)&fds, &fd_bytes) || fd_bytes != 6 * sizeof *fds ||
      control >= 0) {
    napi_throw_error(
        env, NULL,
        "cordon-launch: start takes one at a time, with arguments that end in NUL, and six descriptors");
    return NULL;
  }
  for (int i = 1; i <= 3; i++)
    if (isatty(fds[i])) outcome = 1;
  for (size_t i = 0; i < size; i++) words += text[i] == 0;
  char **argv = calloc(words + 1, sizeof *argv);
  if (!argv) abort();
  for (size_t i = 0; i < words; i++, text += strlen(text) + 1) argv[i] = text;
  if (outcome == 0) outcome = -spawn_child(argv, fds);
  free(argv);
  napi_create_int32(env, outcome, &result);
  return result;
}

static int signal_pipe[2];

static void hang_up(void) {
  if (control >= 0) close(control);
  if (complaints >= 0) close(complaints);
  control = complaints = -1;
}

static void note_signal(int number) {
  int saved = errno;
  uint8_t byte = (uint8_t)number;
  if (write(signal_pipe[1], &byte, 1) < 0) { /* full: hundreds of signals are queued already */
  }
  errno = saved;
}

static ssize_t send_with_streams(const struct bytes *rest) {
  const int streams[] = {0, 1, 2};
  struct iovec part = {rest->at, rest->length};
  union {
    char bytes[CMSG_SPACE(sizeof streams)];
    struct cmsghdr head;
  } beside = {0};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = beside.bytes, .msg_controllen = sizeof beside.bytes};
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof streams);
  memcpy(CMSG_DATA(head), streams, sizeof streams);
  ssize_t sent = sendmsg(control, &message, MSG_NOSIGNAL);
  if (sent > 0) hands_streams = 0;
  return sent;
}

/* Sends as much as the init accepts. A closed init is noticed elsewhere. */
static void send_rest(struct bytes *rest) {
  ssize_t sent = hands_streams ? send_with_streams(rest)
                               : send(control, rest->at, rest->length, MSG_NOSIGNAL);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
  size_t gone = sent < 0 ? rest->length : (size_t)sent;
  memmove(rest->at, rest->at + gone, rest->length - gone);
  rest->length -= gone;
}

static void order(struct bytes *to, enum word_type type, uint8_t a) {
  const uint8_t message[ORDER_BYTES] = {(uint8_t)type, a};
  append(to, message, sizeof message);
}

static void take_complaints(struct bytes *into) {
  char text[1024];
  ssize_t n;
  while ((n = read(complaints, text, sizeof text)) > 0)
    if (into->length < COMPLAINT_BYTES) append(into, text, (size_t)n);
}

/* The callback for program starts, while the caller waits in attend(). */
struct judge {
  napi_env env;
  napi_value function;
};

static void ask_judge(const struct judge *judge, const uint8_t *message, size_t length, struct bytes *out) {
  napi_handle_scope scope;
  napi_value nobody, given, said;
  void *bytes;
  size_t size;
  napi_open_handle_scope(judge->env, &scope);
  if (!napi_create_buffer_copy(judge->env, length, message, NULL, &given) &&
      !napi_get_undefined(judge->env, &nobody) &&
      !napi_call_function(judge->env, nobody, judge->function, 1, &given, &said) &&
      !napi_get_buffer_info(judge->env, said, &bytes, &size))
    append(out, bytes, size);
  napi_close_handle_scope(judge->env, scope);
}

/* Skips the whole messages from `*at` on. True at the last one: ended, or failed. */
static int take_messages(const struct bytes *messages, size_t *at, const struct judge *judge,
                         struct bytes *out) {
  while (*at + MESSAGE_BYTES <= messages->length) {
    const uint8_t *message = messages->at + *at;
    size_t whole = MESSAGE_BYTES;
    if (message[0] == MESSAGE_ENDED || message[0] == MESSAGE_FAILED) return 1;
    /* The command chose the following words: they must not be read as messages. */
    if (message[0] && strchr(MESSAGES_WITH_TEXT, message[0]))
      whole += ((size_t)(message[8] | message[9] << 8 | message[10] << 16) + MESSAGE_BYTES - 1) /
               MESSAGE_BYTES * MESSAGE_BYTES;
    if (*at + whole > messages->length) return 0;
    if (message[0] == MESSAGE_START) ask_judge(judge, message, whole, out);
    *at += whole;
  }
  return 0;
}

/* Stops like a shell's child: the command first, then this process, unless it is orphaned and
 * nothing could continue it. */
static void stop_here(struct bytes *out) {
  struct sigaction now, usual = {.sa_handler = SIG_DFL};
  order(out, WORD_SIGNAL, SIGSTOP);
  for (int tries = 0; out->length && tries < 100; tries++) {
    struct pollfd wait = {control, POLLOUT, 0};
    poll(&wait, 1, 10);
    send_rest(out);
  }
  sigaction(SIGTSTP, &usual, &now);
  raise(SIGTSTP);
  sigaction(SIGTSTP, &now, NULL);
  order(out, WORD_SIGNAL, SIGCONT);
}

/* Exchanges messages until the init's last one or the end of the connection: true for the message. */
static int converse(struct bytes *out, struct bytes *messages, struct bytes *said, int64_t timeout,
                    uint32_t *timed_out, const struct judge *judge) {
  size_t taken = 0;
  int64_t deadline = timeout > 0 ? now_ms() + timeout : INT64_MAX;
  for (;;) {
    int endless = deadline == INT64_MAX;
    int64_t left = endless ? -1 : deadline - now_ms();
    struct pollfd waits[] = {{control, (short)(out->length ? POLLIN | POLLOUT : POLLIN), 0},
                             {signal_pipe[0], POLLIN, 0},
                             {complaints, POLLIN, 0}};
    if (!endless && left <= 0) {
      if (*timed_out) { /* the init ends with the connection, if it can */
        kill(child, SIGKILL);
        return 0;
      }
      order(out, WORD_QUIT, 0);
      deadline = now_ms() + GRACE_MS;
      *timed_out = 1;
      continue;
    }
    if (poll(waits, 3, left > INT32_MAX ? INT32_MAX : (int)left) < 0) {
      if (errno != EINTR) return 0;
      continue;
    }
    uint8_t received[4096];
    if (waits[1].revents) {
      ssize_t n = read(signal_pipe[0], received, sizeof received);
      for (ssize_t i = 0; i < n; i++) {
        if (received[i] == SIGTSTP) stop_here(out);
        else order(out, WORD_SIGNAL, received[i]);
      }
    }
    if (waits[2].revents) {
      take_complaints(said);
      if (waits[2].revents & POLLHUP) {
        /* bubblewrap and its monitor are gone; the init's last messages are in the socket */
        close(complaints);
        complaints = -1;
      }
    }
    if (out->length && (waits[0].revents & POLLOUT)) send_rest(out);
    if (waits[0].revents & (POLLIN | POLLHUP | POLLERR)) {
      ssize_t n = recv(control, received, sizeof received, 0);
      if (n > 0) append(messages, received, (size_t)n);
      if (take_messages(messages, &taken, judge, out)) return 1;
      if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return 0;
    }
  }
}

napi_value attend_sandbox(napi_env env, napi_callback_info info) {
  size_t count = 5, size, signal_count;
  napi_value given[5], result;
  uint8_t *setup, *signals;
  double timeout, streams;
  struct sigaction before[64], noting = {.sa_handler = note_signal, .sa_flags = SA_RESTART};
  struct bytes out = {0}, messages = {0}, said = {0}, answer = {0};
  uint32_t timed_out = 0;
  int status = -1;
  if (napi_get_cb_info(env, info, &count, given, NULL, NULL) || count != 5 ||
      napi_get_buffer_info(env, given[0], (void **)&setup, &size) ||
      napi_get_buffer_info(env, given[1], (void **)&signals, &signal_count) || signal_count > 64 ||
      napi_get_value_double(env, given[2], &timeout) || napi_get_value_double(env, given[3], &streams) ||
      control < 0 || pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK)) {
    napi_throw_error(env, NULL,
                     "cordon-launch: attend takes a setup message, signals, a time, whether the streams go "
                     "with them, and a judge, after start");
    return NULL;
  }
  sigfillset(&noting.sa_mask);
  for (size_t i = 0; i < signal_count; i++) sigaction(signals[i], &noting, &before[i]);
  append(&out, setup, size);
  hands_streams = streams != 0;
  if (!converse(&out, &messages, &said, (int64_t)timeout, &timed_out, &(struct judge){env, given[4]})) {
    /* A remaining init ends with the connection; nothing else would end it. */
    close(control);
    control = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (complaints >= 0) take_complaints(&said);
  }
  for (size_t i = 0; i < signal_count; i++) sigaction(signals[i], &before[i], NULL);
  close(signal_pipe[0]), close(signal_pipe[1]);
  hang_up();
  append(&answer, &status, sizeof(int32_t));
  append(&answer, &timed_out, sizeof timed_out);
  append(&answer, &(uint32_t){(uint32_t)messages.length}, sizeof(uint32_t));
  append(&answer, messages.at, messages.length);
  append(&answer, said.at, said.length);
  napi_create_buffer_copy(env, answer.length, answer.at, NULL, &result);
  free(out.at), free(messages.at), free(said.at), free(answer.at);
  return result;
}

napi_value sandbox_waits(napi_env env, napi_callback_info info) {
  (void)info;
  napi_value result;
  struct pollfd gone = {control, 0, 0};
  int waits = control >= 0 && poll(&gone, 1, 0) == 0 && waitpid(child, NULL, WNOHANG) == 0;
  for (int fd = 0; fd <= 2; fd++) waits = waits && !isatty(fd);
  napi_create_int32(env, waits, &result);
  return result;
}

napi_value swap_sandbox(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value given[1];
  double number;
  if (napi_get_cb_info(env, info, &count, given, NULL, NULL) || count != 1 ||
      napi_get_value_double(env, given[0], &number) || number < 0 || number >= ASIDE) {
    napi_throw_error(env, NULL, "cordon-launch: swap takes a number");
    return NULL;
  }
  size_t at = (size_t)number;
  pid_t other_child = aside[at].child;
  int other_control = aside[at].control, other_complaints = aside[at].complaints;
  aside[at].child = child, aside[at].control = control, aside[at].complaints = complaints;
  child = other_child, control = other_control, complaints = other_complaints;
  return NULL;
}

napi_value abandon_sandbox(napi_env env, napi_callback_info info) {
  (void)env, (void)info;
  hang_up();
  return NULL;
}
