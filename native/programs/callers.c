/* Finds the program that makes a connection. A program with hosts, or started by one, has a number:
 * its soft RLIMIT_LOCKS. The kernel enforces nothing by it and passes it to each fork. The filter
 * keeps the command from setting it, and the exec stop sets it for the new image. So it identifies
 * the program in a process, whatever that calls itself. */
#define _GNU_SOURCE
#include "programs.h"
#include "../init/init.h"
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST 8192
#define SLOTS (4 * MOST)
#define WORDS_BYTES (128 << 10)
#define VARIABLES_BYTES (64 << 10)
#define ALL_BYTES (32 << 20)
#define ENVIRONMENT_BYTES (256 << 10)
#define NAMED_WORDS 4 /* of an interpreter or `env`, with its program */
#define SOURCE (127u << 24 | 77u << 16) /* the source address of a number's connections */
#define FIRST_PORT 32768 /* as in the kernel: a server may need those below */
#define PORTS 28000

static const char **names; /* programs with hosts */
static size_t name_count;
static int is_told;

static struct caller {
  uint32_t parent;
  int is_reported;
  size_t length;
  char *text;
} callers[MOST];
static uint32_t last;
static size_t kept_bytes;
static uint16_t slots[SLOTS];

static struct {
  char bytes[PATH_MAX + MAX_ALIASES * (NAME_MAX + 2) + WORDS_BYTES + VARIABLES_BYTES + 64];
  size_t length;
} text;

/* Without a name, callers are only reported. */
int callers_take_name(const char *name) {
  is_told = 1;
  if (!name[0]) return 0;
  const char **grown = realloc(names, (name_count + 1) * sizeof *names);
  if (!grown) return -1;
  names = grown;
  names[name_count++] = name;
  return 0;
}

int callers_are_told(void) { return is_told; }

/* The caller must still wait for its call afterwards: only then the value was the caller's. */
uint32_t number_of(pid_t tid) {
  struct rlimit limit;
  if (prlimit(tid, RLIMIT_LOCKS, NULL, &limit) || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > last)
    return 0;
  return (uint32_t)limit.rlim_cur;
}

static int set_number(pid_t pid, uint32_t number) {
  struct rlimit limit;
  if (prlimit(pid, RLIMIT_LOCKS, NULL, &limit)) return -1;
  rlim_t wanted = number ? number : limit.rlim_max;
  if (limit.rlim_cur == wanted) return 0;
  limit.rlim_cur = wanted;
  return prlimit(pid, RLIMIT_LOCKS, &limit, NULL);
}

static void put(const char *bytes) {
  size_t length = strlen(bytes) + 1;
  memcpy(text.bytes + text.length, bytes, length);
  text.length += length;
}

static int is_given(const char *variable) {
  for (size_t i = 0; i < setup.envc; i++)
    if (!strcmp(setup.envp[i], variable)) return 1;
  return 0;
}

/* Variables that the command was not started with. False if there are too many to report. */
static int put_variables(pid_t pid) {
  static char all[ENVIRONMENT_BYTES];
  char path[48];
  size_t length = 0, used = 0;
  ssize_t n = -1;
  snprintf(path, sizeof path, "/proc/%d/environ", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  while (fd >= 0 && length < sizeof all - 1 && (n = read(fd, all + length, sizeof all - 1 - length)) > 0)
    length += (size_t)n;
  if (fd >= 0) close(fd);
  if (n != 0) return 0;
  all[length] = 0;
  for (char *at = all; at < all + length; at += strlen(at) + 1) {
    if (is_given(at)) continue;
    used += strlen(at) + 1;
    if (used > VARIABLES_BYTES) return 0;
    put(at);
  }
  return 1;
}

/* NUL-terminated texts: "c" if something is missing, "p" if the process only claims it; the file,
 * its other names separated by slashes, the number of words, the words, and the variables that the
 * command was not started with. */
static void describe(pid_t pid, const struct image *image, const struct words *w, int plain) {
  char aliases[MAX_ALIASES * (NAME_MAX + 2)] = "", count[24];
  size_t shown = 0, shown_count = 0;
  for (size_t i = 0; i < image->alias_count; i++) {
    size_t at = strlen(aliases);
    snprintf(aliases + at, sizeof aliases - at, "%s/", image->aliases[i]);
  }
  for (; shown < w->length; shown_count++) {
    size_t next = strlen(w->bytes + shown) + 1;
    if (shown + next > WORDS_BYTES) break;
    shown += next;
  }
  snprintf(count, sizeof count, "%zu", shown_count);
  text.length = 0;
  put(plain ? "p" : shown < w->length ? "c" : " ");
  put(image->path);
  put(aliases);
  put(count);
  memcpy(text.bytes + text.length, w->bytes, shown);
  text.length += shown;
  if (!plain && !put_variables(pid)) text.bytes[0] = 'c';
}

/* The number of a described program; 0 if there are too many. */
static uint32_t find_or_add(uint32_t parent) {
  uint32_t hash = 2166136261u ^ parent;
  for (size_t i = 0; i < text.length; i++) hash = (hash ^ (uint8_t)text.bytes[i]) * 16777619u;
  size_t slot = (hash ^ hash >> 16) % SLOTS;
  for (; slots[slot]; slot = (slot + 1) % SLOTS) {
    const struct caller *known = &callers[slots[slot] - 1];
    if (known->parent == parent && known->length == text.length &&
        !memcmp(known->text, text.bytes, text.length))
      return slots[slot];
  }
  /* Claims may use only half of the space. */
  unsigned share = text.bytes[0] == 'p' ? 2 : 1;
  char *kept =
      last < MOST / share && kept_bytes + text.length < ALL_BYTES / share ? malloc(text.length) : NULL;
  if (!kept) return 0;
  kept_bytes += text.length;
  memcpy(kept, text.bytes, text.length);
  callers[last] = (struct caller){.parent = parent, .length = text.length, .text = kept};
  slots[slot] = (uint16_t)++last;
  return last;
}

static int is_named(const char *path) {
  for (size_t i = 0; i < name_count; i++)
    if (!fnmatch(names[i], base_name(path), 0)) return 1;
  return 0;
}

static int has_hosts(const struct image *image, const struct words *w) {
  int found = is_named(image->path);
  for (size_t i = 0; i < image->alias_count && !found; i++) found = is_named(image->aliases[i]);
  const char *word = w->bytes;
  for (int i = 0; i < NAMED_WORDS && word < w->bytes + w->length && !found; i++, word += strlen(word) + 1)
    found = is_named(word);
  return found;
}

/* At the exec stop. -1: the process would keep the number of the previous program, and must not
 * run. */
int number_image(pid_t pid, const struct image *image, const struct words *w) {
  if (!name_count) return 0;
  uint32_t parent = number_of(pid), number = 0;
  if (parent || has_hosts(image, w)) {
    describe(pid, image, w, 0);
    number = find_or_add(parent);
  }
  return set_number(pid, number);
}

/* Describes a process without a number by its own claims: shown to people, never judged. */
static uint32_t number_plain(pid_t tid) {
  static struct image image;
  struct words w = {0};
  uint32_t number = 0;
  if (look_at_process(tid, &image) == 0 && read_command_line(tid, &w) == 0) {
    describe(tid, &image, &w, 1);
    number = find_or_add(0);
  }
  free(w.bytes);
  return number;
}

static int is_way_out(uint32_t address, uint16_t port) {
  if (setup.has_listener && port == setup.port && address == INADDR_LOOPBACK) return 1;
  for (size_t i = 0; i < setup.listener_count; i++)
    if (port == setup.listeners[i].port &&
        (!setup.listeners[i].address || address == setup.listeners[i].address))
      return address >> 24 == 127;
  return 0;
}

/* The destination as an IPv4 address, 0 without one. The unspecified address means the own address,
 * which would be a number's. */
static uint32_t lead(struct sockaddr *address, socklen_t length, uint16_t *port) {
  struct sockaddr_in *four = (void *)address;
  struct sockaddr_in6 *six = (void *)address;
  if (length >= sizeof *four && address->sa_family == AF_INET) {
    if (four->sin_addr.s_addr == htonl(INADDR_ANY)) four->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *port = ntohs(four->sin_port);
    return ntohl(four->sin_addr.s_addr);
  }
  if (length < offsetof(struct sockaddr_in6, sin6_scope_id) || address->sa_family != AF_INET6) return 0;
  if (IN6_IS_ADDR_UNSPECIFIED(&six->sin6_addr)) six->sin6_addr = in6addr_loopback;
  if (!IN6_IS_ADDR_V4MAPPED(&six->sin6_addr)) return 0;
  uint32_t mapped;
  memcpy(&mapped, six->sin6_addr.s6_addr + 12, sizeof mapped);
  if (!mapped) mapped = htonl(INADDR_LOOPBACK);
  memcpy(six->sin6_addr.s6_addr + 12, &mapped, sizeof mapped);
  *port = ntohs(six->sin6_port);
  return ntohl(mapped);
}

static socklen_t own_address(struct sockaddr_storage *into, int family, uint32_t address, uint16_t port) {
  memset(into, 0, sizeof *into);
  uint32_t wire = htonl(address);
  if (family == AF_INET) {
    *(struct sockaddr_in *)into =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = wire};
    return sizeof(struct sockaddr_in);
  }
  struct sockaddr_in6 *six = (void *)into;
  *six = (struct sockaddr_in6){
      .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr.s6_addr = {[10] = 0xff, [11] = 0xff}};
  memcpy(six->sin6_addr.s6_addr + 12, &wire, sizeof wire);
  return sizeof *six;
}

/* The address of a socket, with its port; 0 if it is not bound. */
static uint32_t source_of(int fd, uint16_t *port) {
  struct sockaddr_storage now;
  socklen_t length = sizeof now;
  uint16_t found = 0;
  *port = 0;
  if (getsockname(fd, (struct sockaddr *)&now, &length)) return 0;
  if (now.ss_family == AF_INET) found = ((struct sockaddr_in *)&now)->sin_port;
  else if (now.ss_family == AF_INET6) found = ((struct sockaddr_in6 *)&now)->sin6_port;
  *port = ntohs(found);
  uint32_t address = 0;
  if (now.ss_family == AF_INET) address = ((struct sockaddr_in *)&now)->sin_addr.s_addr;
  else if (now.ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&((struct sockaddr_in6 *)&now)->sin6_addr))
    memcpy(&address, ((struct sockaddr_in6 *)&now)->sin6_addr.s6_addr + 12, sizeof address);
  return ntohl(address);
}

/* Its ancestors first. */
static void tell_caller(uint32_t number) {
  struct caller *c = &callers[number - 1];
  if (c->is_reported) return;
  if (c->parent) tell_caller(c->parent);
  callers_tell(number, c->parent, c->text, c->length);
  c->is_reported = 1;
}

/* Binds a socket that is about to connect to the proxy to the address of its caller's number. The
 * port is chosen here: a bound socket cannot be bound again. A socket that was bound elsewhere has
 * no number. Returns an errno, or 0. */
int name_caller(pid_t tid, uint32_t number, int fd, struct sockaddr *address, socklen_t length) {
  static uint16_t next;
  struct sockaddr_storage own;
  int family = AF_UNSPEC, type = 0;
  uint16_t port = 0, bound;
  socklen_t size = sizeof family;
  if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size) || (family != AF_INET && family != AF_INET6))
    return 0;
  size = sizeof type;
  if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) || type != SOCK_STREAM) return 0;
  uint32_t to = lead(address, length, &port);
  if (!to || !is_way_out(to, port)) return 0;
  if (!number) number = number_plain(tid);
  if (number) tell_caller(number);
  for (int tries = 0; tries < PORTS; tries++) {
    uint32_t source = source_of(fd, &bound);
    if (bound) return source >> 16 == SOURCE >> 16 && source != SOURCE + number ? EACCES : 0;
    next = (uint16_t)((next + 1) % PORTS);
    size = own_address(&own, family, SOURCE + number, (uint16_t)(FIRST_PORT + next));
    if (bind(fd, (struct sockaddr *)&own, size) == 0) return 0;
    if (errno != EADDRINUSE && errno != EINVAL) return errno;
  }
  return EADDRNOTAVAIL;
}
