#define _GNU_SOURCE
#include "names.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_NAMES 1024
#define MAX_REPORTED 256 /* reported names at most */
#define MAX_NAME 255
#define QUERY 1232

static struct { uint32_t address; const char *name; } known[MAX_NAMES];
static size_t known_count;
static char *reported[MAX_REPORTED];
static size_t reported_count;

static int datagrams = -1, streams = -1, refusals = -1;

enum speech { SPEECH_NEW, SPEECH_NAMES, SPEECH_SOCKS, SPEECH_DONE };

static struct client {
  int fd;
  enum speech speech;
  size_t length;
  uint8_t bytes[2048];
} clients[NAMES_CLIENTS];
static unsigned next_client;

int names_add(uint32_t address, const char *name) {
  if (known_count == MAX_NAMES || strlen(name) > MAX_NAME || address >> 24 != 127) return -1;
  known[known_count].address = address;
  known[known_count++].name = name;
  return 0;
}

static void report_once(uint32_t kind, const char *name, uint16_t port) {
  char line[MAX_NAME + 16];
  snprintf(line, sizeof line, "%u %u %s", kind, port, name);
  for (size_t i = 0; i < reported_count; i++)
    if (!strcmp(reported[i], line)) return;
  if (reported_count == MAX_REPORTED || !(reported[reported_count] = strdup(line))) return;
  reported_count++;
  names_report(kind, name, port);
}

static int open_socket(int type, uint16_t port) {
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int one = 1;
  int fd = socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) ||
      bind(fd, (struct sockaddr *)&address, sizeof address) || (type == SOCK_STREAM && listen(fd, 64))) {
    int error = errno;
    close(fd);
    errno = error;
    return -1;
  }
  return fd;
}

int names_open(uint16_t port) {
  for (int i = 0; i < NAMES_CLIENTS; i++) clients[i].fd = -1;
  datagrams = open_socket(SOCK_DGRAM, NAMES_PORT);
  streams = open_socket(SOCK_STREAM, NAMES_PORT);
  if (port) refusals = open_socket(SOCK_STREAM, port);
  return datagrams < 0 || streams < 0 || (port && refusals < 0) ? -1 : 0;
}

/* The name in the first question, in lower case with dots; returns the end of the question, or 0. */
static size_t read_question(const uint8_t *query, size_t length, char *name, uint16_t *type) {
  size_t at = 12, used = 0;
  if (length < 17 || (query[2] & 0xf8) || query[4] || query[5] != 1) return 0;
  for (;;) {
    if (at >= length) return 0;
    size_t label = query[at++];
    if (label == 0) break;
    if (label > 63 || at + label > length || used + label + 1 > MAX_NAME) return 0;
    if (used) name[used++] = '.';
    for (size_t i = 0; i < label; i++, at++) {
      uint8_t c = query[at];
      /* A name with other characters is not a host's, and is not shown to people unchanged. */
      int plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
      name[used++] = c >= 'A' && c <= 'Z' ? (char)(c | 32) : plain ? (char)c : '?';
    }
  }
  name[used] = 0;
  if (at + 4 > length) return 0;
  *type = (uint16_t)(query[at] << 8 | query[at + 1]);
  return at + 4;
}

/* `ending` starts with its dot: a label must be before it. */
static int is_below(const char *name, const char *ending) {
  size_t length = strlen(name), cut = strlen(ending);
  return ending[0] == '.' && length > cut && !strcmp(name + length - cut, ending);
}

static uint32_t address_of(const char *name) {
  if (!strcmp(name, "localhost")) return INADDR_LOOPBACK;
  for (size_t i = 0; i < known_count; i++)
    if (!strcmp(known[i].name, name)) return known[i].address;
  for (size_t i = 0; i < known_count; i++)
    if (known[i].name[0] == '*' && is_below(name, known[i].name + 1)) return known[i].address;
  return 0;
}

static int is_own(const char *name) {
  char host[256];
  size_t length = strlen(name);
  if (length > 5 && !strcmp(name + length - 5, ".arpa")) return 1;
  return !gethostname(host, sizeof host) && !strcasecmp(host, name);
}

/* Answers a query in place; returns the length of the answer, 0 for an invalid query. The buffer
 * needs 16 more bytes. */
static size_t answer_query(uint8_t *query, size_t length) {
  char name[MAX_NAME + 1];
  uint16_t type;
  size_t end = read_question(query, length, name, &type);
  if (!end) return 0;
  uint32_t address = address_of(name);
  int known_name = address != 0;
  if (!known_name && !is_own(name)) report_once(0, name, 0);
  query[2] = 0x84 | (query[2] & 1); /* an authoritative answer */
  query[3] = (uint8_t)(0x80 | (known_name ? 0 : 3));
  memset(query + 6, 0, 6);
  if (!known_name || type != 1) return end;
  query[7] = 1;
  const uint8_t record[16] = {0xc0,
                              12,
                              0,
                              1,
                              0,
                              1,
                              0,
                              0,
                              0,
                              5,
                              0,
                              4,
                              (uint8_t)(address >> 24),
                              (uint8_t)(address >> 16),
                              (uint8_t)(address >> 8),
                              (uint8_t)address};
  memcpy(query + end, record, sizeof record);
  return end + sizeof record;
}

static void serve_datagrams(void) {
  uint8_t query[QUERY + 16];
  struct sockaddr_storage from;
  for (int count = 0; count < 64; count++) {
    socklen_t size = sizeof from;
    ssize_t n = recvfrom(datagrams, query, QUERY, 0, (struct sockaddr *)&from, &size);
    if (n < 0) return;
    size_t length = answer_query(query, (size_t)n);
    if (length) sendto(datagrams, query, length, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&from, size);
  }
}

static void drop(struct client *c) {
  close(c->fd);
  c->fd = -1;
}

static void take_client(int listener, enum speech speech) {
  int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return;
  /* Round robin: the oldest client is closed. */
  struct client *c = &clients[next_client++ % NAMES_CLIENTS];
  if (c->fd >= 0) drop(c);
  c->fd = fd;
  c->speech = speech;
  c->length = 0;
}

static void say(struct client *c, const void *bytes, size_t length) {
  /* The buffer of a new connection is empty: it fits, or the peer is gone. */
  if (send(c->fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)length) drop(c);
}

static void end_with(struct client *c, const void *bytes, size_t length) {
  say(c, bytes, length);
  if (c->fd < 0) return;
  shutdown(c->fd, SHUT_WR);
  c->speech = SPEECH_DONE; /* read the rest, so that the peer sees the answer and not a reset */
}

/* Reports `host`, `host:port` or `[address]:port`, up to `end`, and returns its port; `name` becomes the host. */
static uint16_t report_authority(const char *at, const char *end, uint16_t port, char name[MAX_NAME + 1]) {
  size_t length = 0;
  const char *stop = *at == '[' ? memchr(at, ']', (size_t)(end - at)) : NULL;
  const char *colon = memchr(stop ? stop : at, ':', (size_t)(end - (stop ? stop : at)));
  if (*at == '[') at++;
  if (!stop) stop = colon ? colon : end;
  for (; at < stop && length < MAX_NAME; at++)
    name[length++] = *at >= 'A' && *at <= 'Z' ? (char)(*at | 32) : *at > ' ' && *at < 127 ? *at : '?';
  name[length] = 0;
  if (colon) port = (uint16_t)atoi(colon + 1);
  if (length) report_once(1, name, port);
  return port;
}

/* The host as a person adds it to a manifest; the command chose its bytes, so a shell must read them as one word. */
static void entry_of(const char *name, uint16_t port, char entry[MAX_NAME + 16]) {
  if (!*name || name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789.:_-")])
    snprintf(entry, MAX_NAME + 16, "HOST");
  else if (port == 80 || port == 443)
    snprintf(entry, MAX_NAME + 16, "%s", name);
  else
    snprintf(entry, MAX_NAME + 16, strchr(name, ':') ? "[%s]:%u" : "%s:%u", name, port);
}

static void refuse_request(struct client *c) {
  static const char head[] =
      "HTTP/1.1 403 Blocked by Cordon (host-unlisted)\r\n"
      "Content-Type: text/plain; charset=utf-8\r\n"
      "Cordon-Code: host-unlisted\r\n"
      "Connection: close\r\n\r\n"
      "blocked by Cordon (host-unlisted): this command was granted no host; ";
  char name[MAX_NAME + 1] = "", entry[MAX_NAME + 16], refusal[sizeof head + 2 * sizeof entry + 128];
  uint16_t port = 443;
  const char *text = (const char *)c->bytes, *end = text + c->length;
  const char *target = memchr(text, ' ', c->length);
  const char *stop = target ? memchr(target + 1, ' ', (size_t)(end - target - 1)) : NULL;
  if (stop) {
    target++;
    int tunnel = c->length > 8 && !memcmp(text, "CONNECT ", 8);
    const char *scheme = tunnel ? NULL : memmem(target, (size_t)(stop - target), "://", 3);
    const char *from = scheme ? scheme + 3 : target;
    const char *slash = memchr(from, '/', (size_t)(stop - from));
    if (tunnel || scheme) port = report_authority(from, slash ? slash : stop, tunnel ? 443 : 80, name);
  }
  entry_of(name, port, entry);
  int length = snprintf(
      refusal, sizeof refusal, "%sto allow: cordon run --allow-host %s …, or for good: cordon add host %s\n", head, entry, entry);
  end_with(c, refusal, (size_t)length);
}

/* SOCKS5 after its greeting: version, command, 0, kind of address, address, port. */
static void refuse_socks(struct client *c) {
  static const uint8_t refusal[10] = {5, 2, 0, 1, 0, 0, 0, 0, 0, 0};
  if (c->length < 5) return;
  size_t size = c->bytes[3] == 1 ? 4 : c->bytes[3] == 4 ? 16 : (size_t)c->bytes[4] + 1;
  if (c->length < 4 + size + 2) return;
  uint16_t port = (uint16_t)(c->bytes[4 + size] << 8 | c->bytes[5 + size]);
  char name[MAX_NAME + 1] = "?", reported[MAX_NAME + 1];
  if (c->bytes[3] == 3) snprintf(name, sizeof name, "%.*s", (int)c->bytes[4], (const char *)c->bytes + 5);
  else inet_ntop(c->bytes[3] == 1 ? AF_INET : AF_INET6, c->bytes + 4, name, sizeof name);
  report_authority(name, name + strlen(name), port, reported);
  end_with(c, refusal, sizeof refusal);
}

static void refuse(struct client *c) {
  static const uint8_t welcome[2] = {5, 0}, socks4[8] = {0, 0x5b, 0, 0, 0, 0, 0, 0};
  if (c->speech == SPEECH_SOCKS) {
    refuse_socks(c);
  } else if (c->bytes[0] == 5) {
    if (c->length < 2 || c->length < 2u + c->bytes[1]) return;
    size_t used = 2u + c->bytes[1];
    memmove(c->bytes, c->bytes + used, c->length - used);
    c->length -= used;
    c->speech = SPEECH_SOCKS;
    say(c, welcome, sizeof welcome);
    if (c->fd >= 0 && c->length) refuse_socks(c);
  } else if (c->bytes[0] == 4) {
    end_with(c, socks4, sizeof socks4);
  } else if (memmem(c->bytes, c->length, "\r\n\r\n", 4) || c->length == sizeof c->bytes) {
    refuse_request(c);
  }
}

static void answer_stream(struct client *c) {
  while (c->fd >= 0 && c->length >= 2) {
    size_t length = (size_t)(c->bytes[0] << 8 | c->bytes[1]);
    if (length > QUERY) return drop(c);
    if (c->length < 2 + length) return;
    uint8_t answer[2 + QUERY + 16];
    memcpy(answer + 2, c->bytes + 2, length);
    size_t answered = answer_query(answer + 2, length);
    if (!answered) return drop(c);
    answer[0] = (uint8_t)(answered >> 8);
    answer[1] = (uint8_t)answered;
    memmove(c->bytes, c->bytes + 2 + length, c->length - 2 - length);
    c->length -= 2 + length;
    say(c, answer, 2 + answered);
  }
}

static void serve_client(struct client *c) {
  if (c->speech == SPEECH_DONE) c->length = 0;
  ssize_t n = recv(c->fd, c->bytes + c->length, sizeof c->bytes - c->length, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) return drop(c);
  c->length += (size_t)n;
  if (c->speech == SPEECH_NAMES) answer_stream(c);
  else if (c->speech != SPEECH_DONE) refuse(c);
  if (c->fd >= 0 && c->length == sizeof c->bytes && c->speech != SPEECH_DONE) drop(c);
}

void names_watch(struct pollfd *fds) {
  const int listeners[3] = {datagrams, streams, refusals};
  for (int i = 0; i < NAMES_FDS; i++) {
    fds[i].fd = datagrams < 0 ? -1 : i < 3 ? listeners[i] : clients[i - 3].fd;
    fds[i].events = POLLIN;
    fds[i].revents = 0;
  }
}

void names_serve(const struct pollfd *fds) {
  if (datagrams < 0) return;
  for (int i = 0; i < NAMES_CLIENTS; i++)
    if (fds[3 + i].revents && clients[i].fd == fds[3 + i].fd && clients[i].fd >= 0) serve_client(&clients[i]);
  if (fds[0].revents) serve_datagrams();
  if (fds[1].revents) take_client(streams, SPEECH_NAMES);
  if (fds[2].revents) take_client(refusals, SPEECH_NEW);
}
