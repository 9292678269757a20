/* Whether a configuration that git is about to put in place says nothing new but what is harmless. */
#define _GNU_SOURCE
#include "door.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_CONFIG (256u << 10)
#define MAX_KEY 1024
#define MAX_UNLISTED 256 /* each is looked for in the whole of the old file */

static char **keys;
static size_t key_count;

/* `user.*`, `branch.*.merge`: sections and keys in lower case, parted by dots; `*` takes anything. */
int door_take_key(char *pattern) {
  char **grown = realloc(keys, (key_count + 1) * sizeof *keys);
  if (!grown) return -1;
  keys = grown;
  keys[key_count++] = pattern;
  return 0;
}

static int fits_glob(const char *glob, const char *text) {
  const char *star = NULL, *again = NULL;
  while (*text) {
    if (*glob == '*') {
      star = glob++;
      again = text;
    } else if (*glob == *text) {
      glob++;
      text++;
    } else if (star) {
      glob = star + 1;
      text = ++again;
    } else return 0;
  }
  while (*glob == '*') glob++;
  return *glob == 0;
}

/* The whole of a small plain file with a NUL behind it; NULL for anything else. */
static char *read_config(int parent, const char *name, size_t *size) {
  struct stat about;
  int fd = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  char *text = NULL;
  if (fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size < MAX_CONFIG && (text = malloc((size_t)about.st_size + 1))) {
    ssize_t n = read(fd, text, (size_t)about.st_size);
    *size = n < 0 ? 0 : (size_t)n;
    if (n != about.st_size || memchr(text, 0, *size)) {
      free(text);
      text = NULL;
    } else text[*size] = 0;
  }
  if (fd >= 0) close(fd);
  return text;
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

static int is_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-'; }

static const char *skip_blank(const char *at) {
  while (*at == ' ' || *at == '\t' || *at == '\r') at++;
  return at;
}

static const char *skip_line(const char *at) {
  while (*at && *at != '\n') at++;
  return at;
}

/* `[section]`, `[section "sub"]`, `[section.sub]` into `section.` or `section.sub.`; NULL for what is none. */
static const char *take_section(const char *at, char *into, size_t size) {
  size_t length = 0;
  for (at++; is_name(*at) || *at == '.'; at++) {
    if (length + 3 > size) return NULL;
    into[length++] = lower(*at);
  }
  at = skip_blank(at);
  if (*at == '"') {
    into[length++] = '.';
    for (at++; *at && *at != '"' && *at != '\n'; at++) {
      if (*at == '\\' && at[1] && at[1] != '\n') at++;
      if (length + 3 > size) return NULL;
      into[length++] = *at;
    }
    if (*at++ != '"') return NULL;
  }
  if (*at++ != ']' || length == 0) return NULL;
  into[length++] = '.';
  into[length] = 0;
  return at;
}

/* The end of a value, which may go on over lines that end in a backslash, and may have quotes. */
static const char *skip_value(const char *at) {
  int quoted = 0;
  for (; *at; at++) {
    if (*at == '\\' && at[1]) {
      at++;
      continue;
    }
    if (*at == '"') quoted = !quoted;
    if (*at == '\n') return quoted ? NULL : at;
    if (!quoted && (*at == '#' || *at == ';')) return skip_line(at);
  }
  return quoted ? NULL : at;
}

struct entry {
  char key[MAX_KEY];
  const char *value;
  size_t length;
};

/* The next key with its value as it is written; 0 at the end, -1 for what git would not take either. */
static int next_entry(const char **at, char *section, size_t section_size, struct entry *e) {
  const char *p = *at;
  for (;;) {
    p = skip_blank(p);
    if (*p == 0) return 0;
    if (*p == '\n') p++;
    else if (*p == '#' || *p == ';') p = skip_line(p);
    else if (*p == '[') {
      if (!(p = take_section(p, section, section_size))) return -1;
    } else break;
  }
  size_t length = strlen(section);
  if (length == 0 || !is_name(*p) || length >= sizeof e->key) return -1;
  memcpy(e->key, section, length);
  for (; is_name(*p); p++) {
    if (length + 1 >= sizeof e->key) return -1;
    e->key[length++] = lower(*p);
  }
  e->key[length] = 0;
  e->value = skip_blank(p);
  if (*e->value && *e->value != '=' && *e->value != '\n' && *e->value != '#' && *e->value != ';') return -1;
  const char *end = skip_value(e->value);
  if (!end) return -1;
  e->length = (size_t)(end - e->value);
  *at = end;
  return 1;
}

static int stood_before(const char *old, const struct entry *wanted) {
  char section[MAX_KEY] = "";
  struct entry e;
  const char *at = old;
  while (next_entry(&at, section, sizeof section, &e) == 1)
    if (!strcmp(e.key, wanted->key) && e.length == wanted->length && !memcmp(e.value, wanted->value, e.length)) return 1;
  return 0;
}

static int is_listed(const char *key) {
  for (size_t i = 0; i < key_count; i++)
    if (fits_glob(keys[i], key)) return 1;
  return 0;
}

/* True when every key of the text is on the list, or stands with the same value in the one that it replaces. */
static int is_harmless(const char *text, const char *before) {
  char section[MAX_KEY] = "";
  struct entry e;
  int more, unlisted = 0;
  const char *at = strncmp(text, "\xef\xbb\xbf", 3) ? text : text + 3;
  while ((more = next_entry(&at, section, sizeof section, &e)) == 1) {
    if (is_listed(e.key)) continue;
    if (!before || ++unlisted > MAX_UNLISTED || !stood_before(before, &e)) return 0;
  }
  return more == 0;
}

static int write_all(int fd, const char *text, size_t size) {
  for (size_t done = 0; done < size;) {
    ssize_t n = write(fd, text + done, size - done);
    if (n < 0 && errno != EINTR) return -1;
    if (n > 0) done += (size_t)n;
  }
  return 0;
}

/*
 * Puts a configuration in place of another, in the way of a rename: what was judged is written anew, because somebody may still
 * hold the caller's own file open. Returns 0, or the errno for the caller.
 */
int place_config(const struct spot *from, const struct spot *to) {
  static const char aside[] = ".cordon-config.lock";
  size_t size = 0, old_size = 0;
  char *text = read_config(from->parent, from->name, &size), *before = read_config(to->parent, to->name, &old_size);
  int error = text && is_harmless(text, before) ? 0 : EROFS;
  if (error == 0) {
    unlinkat(to->parent, aside, 0); /* of one that was killed in the middle */
    int fd = openat(to->parent, aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 || write_all(fd, text, size) || fchmod(fd, from->about.st_mode & 0777) || renameat(to->parent, aside, to->parent, to->name)) error = errno;
    if (fd >= 0) close(fd);
    if (error == 0 && unlinkat(from->parent, from->name, 0)) error = errno;
  }
  free(text);
  free(before);
  return error;
}
