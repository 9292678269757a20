/* Reads the words of a start from the caller's memory, and rewrites them like the kernel for a file
 * with an interpreter line. */
#define _GNU_SOURCE
#include "programs.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE 4096
#define MAX_BYTES (8u << 20) /* the kernel's limit is 6 MiB */
#define MAX_WORDS (1u << 20)
#define MAX_INTERPRETERS 5
#define LINE_BYTES 256 /* BINPRM_BUF_SIZE */

const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static int grow(struct words *w, size_t by) {
  size_t wanted = w->length + by;
  if (wanted <= w->size) return 0;
  if (wanted > MAX_BYTES) {
    errno = E2BIG;
    return -1;
  }
  size_t size = wanted < 4 * PAGE ? 4 * PAGE : 2 * wanted;
  char *grown = realloc(w->bytes, size);
  if (!grown) return -1;
  w->bytes = grown;
  w->size = size;
  return 0;
}

int add_word(struct words *w, const char *text, size_t length) {
  if (grow(w, length + 1)) return -1;
  memcpy(w->bytes + w->length, text, length);
  w->bytes[w->length + length] = 0;
  w->length += length + 1;
  w->count++;
  return 0;
}

/* One page of the caller: words are usually adjacent. */
struct page {
  uint64_t at;
  ssize_t length;
  char bytes[PAGE];
};

static const char *reach(const struct call *c, struct page *p, uint64_t from, size_t *left) {
  uint64_t start = from & ~(uint64_t)(PAGE - 1);
  if (p->length <= 0 || p->at != start) {
    struct iovec local = {.iov_base = p->bytes, .iov_len = PAGE},
                 remote = {.iov_base = (void *)(uintptr_t)start, .iov_len = PAGE};
    p->length = process_vm_readv(c->tid, &local, 1, &remote, 1, 0);
    p->at = start;
    if (p->length != PAGE) {
      p->length = 0;
      errno = EFAULT;
      return NULL;
    }
  }
  *left = PAGE - (size_t)(from - start);
  return p->bytes + (from - start);
}

static int read_word(const struct call *c, struct page *p, uint64_t from, struct words *w) {
  for (;;) {
    size_t left;
    const char *text = reach(c, p, from, &left);
    if (!text) return -1;
    const char *end = memchr(text, 0, left);
    size_t length = end ? (size_t)(end - text) : left;
    if (grow(w, length + 1)) return -1;
    memcpy(w->bytes + w->length, text, length);
    w->length += length;
    from += length;
    if (!end) continue;
    w->bytes[w->length++] = 0;
    w->count++;
    return 0;
  }
}

/* Reads the words at this address. 0, or -1 with errno. */
int read_words(const struct call *c, uint64_t from, struct words *w) {
  static struct page list, text;
  list.length = text.length = 0;
  while (from && w->count < MAX_WORDS) {
    uint64_t pointer;
    size_t left;
    char *into = (char *)&pointer;
    for (size_t got = 0; got < sizeof pointer;) {
      const char *part = reach(c, &list, from + got, &left);
      if (!part) return -1;
      if (left > sizeof pointer - got) left = sizeof pointer - got;
      memcpy(into + got, part, left);
      got += left;
    }
    if (!pointer) break;
    if (read_word(c, &text, pointer, w)) return -1;
    from += sizeof pointer;
  }
  if (w->count == MAX_WORDS) {
    errno = E2BIG;
    return -1;
  }
  return w->count ? 0 : add_word(w, "", 0); /* as the kernel does */
}

static int is_blank(char c) { return c == ' ' || c == '\t'; }

/* Splits an interpreter line as the kernel does. Returns 0 if there is one. */
static int take_line(char line[LINE_BYTES + 1], ssize_t length, const char **interpreter,
                     const char **option) {
  if (length < 3 || line[0] != '#' || line[1] != '!') return -1;
  line[length] = 0;
  line[strcspn(line, "\n")] = 0;
  char *at = line + 2, *end = line + strlen(line);
  while (end > at && is_blank(end[-1])) *--end = 0;
  while (is_blank(*at)) at++;
  if (!*at) return -1;
  *interpreter = at;
  while (*at && !is_blank(*at)) at++;
  *option = NULL;
  if (!*at) return 0;
  *at++ = 0;
  while (is_blank(*at)) at++;
  if (*at) *option = at;
  return 0;
}

static int open_interpreter(const struct call *c, const char *path) {
  char link[64];
  if (path[0] == '/') return open(path, O_PATH | O_CLOEXEC);
  snprintf(link, sizeof link, "/proc/%d/cwd", c->tid);
  int folder = open(link, O_PATH | O_DIRECTORY | O_CLOEXEC);
  int fd = folder < 0 ? -1 : openat(folder, path, O_PATH | O_CLOEXEC);
  if (folder >= 0) close(folder);
  return fd;
}

static ssize_t read_head(int file, char *into, size_t size) {
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  int fd = open(link, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : pread(fd, into, size, 0);
  if (fd >= 0) close(fd);
  return n;
}

/* Rewrites the words as the kernel will: for a file with an interpreter line, to those of the
 * interpreter. `file` is an O_PATH descriptor. Returns a descriptor of the file that will run,
 * `file` itself without such a line; -1 if unknown. */
int follow_interpreters(const struct call *c, int file, const char *path, struct words *w) {
  char line[LINE_BYTES + 1], named[PATH_MAX];
  int at = file;
  snprintf(named, sizeof named, "%s", path);
  for (int depth = 0; depth < MAX_INTERPRETERS; depth++) {
    const char *interpreter, *option;
    if (take_line(line, read_head(at, line, LINE_BYTES), &interpreter, &option)) return at;
    struct words next = {0};
    int bad = add_word(&next, interpreter, strlen(interpreter)) ||
              (option && add_word(&next, option, strlen(option))) || add_word(&next, named, strlen(named));
    size_t first = strlen(w->bytes) + 1;
    if (!bad && first < w->length && grow(&next, w->length - first)) bad = 1;
    if (bad) {
      free(next.bytes);
      break;
    }
    if (first < w->length) memcpy(next.bytes + next.length, w->bytes + first, w->length - first);
    next.length += w->length - first;
    next.count += w->count - 1;
    free(w->bytes);
    *w = next;
    int fd = open_interpreter(c, interpreter);
    snprintf(named, sizeof named, "%s", interpreter);
    if (at != file) close(at);
    at = fd;
    if (fd < 0) return -1;
  }
  if (at != file && at >= 0) close(at);
  return -1;
}
