/* Sends messages to the parent, and ends after a failure. */
#define _GNU_SOURCE
#include "init.h"
#include "learn.h"
#include "names.h"
#include "private-home.h"
#include "../programs/programs.h"
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int control = -1;
int exec_report = -1;

/* Two threads send. */
static pthread_mutex_t speaking = PTHREAD_MUTEX_INITIALIZER;

static void send_all(const void *bytes, size_t size) {
  for (size_t done = 0; done < size;) {
    ssize_t n = send(control, (const char *)bytes + done, size - done, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(FAULT_STATUS); /* the parent is gone */
    done += (size_t)n;
  }
}

void send_message(uint32_t type, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t frame[4] = {type, a, b, c};
  pthread_mutex_lock(&speaking);
  send_all(frame, sizeof frame);
  pthread_mutex_unlock(&speaking);
}

void broker_report(uint32_t type, uint32_t a, uint32_t b, uint32_t c) { send_message(type, a, b, c); }

static void send_text(const uint32_t head[4], const char *text, size_t length) {
  static const uint8_t fill[16];
  pthread_mutex_lock(&speaking);
  send_all(head, 16);
  send_all(text, length);
  send_all(fill, (16 - length % 16) % 16);
  pthread_mutex_unlock(&speaking);
}

void names_report(uint32_t kind, const char *name, uint16_t port) {
  size_t length = strlen(name);
  if (length > 255) return;
  uint32_t head[4] = {MESSAGE_ASKED, kind, (uint32_t)length, port};
  send_text(head, name, length);
}

void learn_send(uint32_t kind, const char *path, uint32_t count) {
  size_t length = strlen(path);
  if (length >= PATH_MAX) return;
  uint32_t head[4] = {MESSAGE_SOUGHT, kind, (uint32_t)length, count};
  send_text(head, path, length);
}

void programs_ask(uint32_t number, const char *text, size_t length) {
  uint32_t head[4] = {MESSAGE_START, number, (uint32_t)length, 0};
  send_text(head, text, length);
}

void programs_report(const char *text, size_t length) {
  if (length >= PATH_MAX) length = PATH_MAX - 1;
  uint32_t head[4] = {MESSAGE_UNJUDGED, 0, (uint32_t)length, 0};
  send_text(head, text, length);
}

void programs_send(uint32_t pid, uint32_t parent, const char *text, size_t length) {
  uint32_t head[4] = {MESSAGE_PROGRAM, pid, (uint32_t)length, parent};
  send_text(head, text, length);
}

void callers_tell(uint32_t number, uint32_t parent, const char *text, size_t length) {
  uint32_t head[4] = {MESSAGE_CALLER, number, (uint32_t)length, parent};
  send_text(head, text, length);
}

void private_home_send(const char *path) {
  size_t length = strlen(path);
  uint32_t head[4] = {MESSAGE_LEFT, 0, (uint32_t)length, 0};
  send_text(head, path, length);
}

_Noreturn void fail_at(enum step step, uint32_t index) {
  uint32_t failure[3] = {step, (uint32_t)errno, index};
  if (exec_report >= 0) {
    ssize_t n = write(exec_report, failure, sizeof failure);
    (void)n;
  } else {
    send_message(MESSAGE_FAILED, failure[0], failure[1], failure[2]);
  }
  _exit(FAULT_STATUS);
}

_Noreturn void fail(enum step step) { fail_at(step, 0); }
