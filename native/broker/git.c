/* Judges a configuration that git is about to write: every new line must be harmless
 * (src/files/git-keys.ts). */
#define _GNU_SOURCE
#include "broker.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_CONFIG (256u << 10)
#define MAX_KEY 1024
#define MAX_VALUE 4096

/* The content of a small plain file, NUL-terminated; NULL for anything else. */
static char *read_config(int parent, const char *name, size_t *size) {
  struct stat about;
  int fd = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  char *text = NULL;
  if (fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size < MAX_CONFIG &&
      (text = malloc((size_t)about.st_size + 1))) {
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

static int is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static const char *skip_blank(const char *at) {
  while (is_blank(*at)) at++;
  return at;
}

static const char *skip_line(const char *at) {
  while (*at && *at != '\n') at++;
  return at;
}

/* `[section]`, `[section "sub"]`, `[section.sub]` into `section.` or `section.sub.`; NULL if
 * malformed. */
static const char *take_section(const char *at, char *into) {
  size_t length = 0;
  for (at++; is_name(*at) || *at == '.'; at++) {
    if (length + 3 > MAX_KEY) return NULL;
    into[length++] = lower(*at);
  }
  at = skip_blank(at);
  if (*at == '"') {
    into[length++] = '.';
    for (at++; *at && *at != '"' && *at != '\n'; at++) {
      if (*at == '\\' && at[1] && at[1] != '\n') at++;
      if (length + 3 > MAX_KEY) return NULL;
      into[length++] = *at;
    }
    if (*at++ != '"') return NULL;
  }
  if (*at++ != ']' || length == 0) return NULL;
  into[length++] = '.';
  into[length] = 0;
  return at;
}

struct entry {
  char section[MAX_KEY];
  char key[MAX_KEY + MAX_KEY];
  char value[MAX_VALUE]; /* as git understands it */
};

/* Unquotes a value as git does; NULL if git would reject it. */
static const char *take_value(const char *at, char *into) {
  size_t length = 0, solid = 0; /* blanks at the end do not count */
  int quoted = 0;
  at = skip_blank(at);
  for (; *at && (quoted || *at != '\n'); at++) {
    char c = *at;
    if (length + 2 > MAX_VALUE || (quoted && c == '\n')) return NULL;
    if (!quoted && (c == '#' || c == ';')) {
      at = skip_line(at);
      break;
    }
    if (c == '"') {
      quoted = !quoted;
      solid = length;
      continue;
    }
    if (c == '\\') {
      c = *++at;
      /* git keeps the blanks before it, also at the end of the value. */
      solid = length;
      if (c == '\n') continue;
      if (c == 'n') c = '\n';
      else if (c == 't') c = '\t';
      else if (c == 'b') c = '\b';
      else if (c != '"' && c != '\\') return NULL;
      into[length++] = c;
      solid = length;
      continue;
    }
    if (length == 0 && !quoted && is_blank(c)) continue;
    into[length++] = c;
    if (quoted || !is_blank(c)) solid = length;
  }
  into[solid] = 0;
  return quoted ? NULL : at;
}

/* The next key with its value; 0 at the end, -1 if git would reject it. */
static int next_entry(const char **at, struct entry *e) {
  const char *p = *at;
  for (;;) {
    p = skip_blank(p);
    if (*p == 0) return 0;
    if (*p == '\n') p++;
    else if (*p == '#' || *p == ';') p = skip_line(p);
    else if (*p == '[') {
      if (!(p = take_section(p, e->section))) return -1;
    } else break;
  }
  size_t length = strlen(e->section);
  if (length == 0 || !is_name(*p) || *p == '-' || (*p >= '0' && *p <= '9')) return -1;
  memcpy(e->key, e->section, length);
  for (; is_name(*p); p++) {
    if (length + 1 >= sizeof e->key) return -1;
    e->key[length++] = lower(*p);
  }
  e->key[length] = 0;
  p = skip_blank(p);
  e->value[0] = 0;
  if (*p == '=') {
    if (!(p = take_value(p + 1, e->value))) return -1;
  } else if (*p == '#' || *p == ';') p = skip_line(p);
  else if (*p && *p != '\n') return -1;
  *at = p;
  return 1;
}

static const char *start_of(const char *text) { return strncmp(text, "\xef\xbb\xbf", 3) ? text : text + 3; }

/* A person may remove the settings of a remote, a branch or a submodule. */
static int may_go(const char *key) {
  return !strncmp(key, "remote.", 7) || !strncmp(key, "branch.", 7) || !strncmp(key, "submodule.", 10);
}

/* The next entry that must be in both texts; 0 at the end, -1 if unreadable. */
static int next_standing(const char **at, struct entry *e, const char *before) {
  int more;
  while ((more = next_entry(at, e)) == 1)
    if (!is_harmless_setting(e->key, e->value, before)) return 1;
  return more;
}

/* Whether all new entries of a text are harmless. The others must be the same in both, in the same
 * order, because a later value overrides an earlier one. One pass over each. */
static int is_harmless(const char *text, const char *before) {
  static struct entry fresh, old;
  const char *at = start_of(text), *old_at = start_of(before);
  int more, old_more;
  fresh.section[0] = old.section[0] = 0;
  do {
    more = next_standing(&at, &fresh, before);
    if (more < 0) return 0;
    while ((old_more = next_standing(&old_at, &old, before)) == 1)
      if (more == 1 && !strcmp(old.key, fresh.key) && !strcmp(old.value, fresh.value)) break;
      else if (!may_go(old.key)) return 0;
    if (old_more < 0 || (more == 1 && old_more != 1)) return 0;
  } while (more == 1);
  return 1;
}

/* Whether an address in the old configuration points to this host. */
int was_known_host(const char *before, const char *host) {
  static struct entry e;
  char found[NAME_MAX];
  const char *at = start_of(before);
  e.section[0] = 0;
  while (next_entry(&at, &e) == 1) {
    size_t length = strlen(e.key);
    if (length > 4 && !strcmp(e.key + length - 4, ".url") && address_host(e.value, found) == 1 &&
        !strcmp(found, host))
      return 1;
  }
  return 0;
}

static int judged_in; /* the folder of the judged configuration */

/* Whether a folder, relative to the configuration, is one of the roots, without a link between
 * them, now and later. */
int is_own_folder(const char *value) {
  char path[PATH_MAX], target[PATH_MAX + MAX_VALUE];
  struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                         .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
  int fd = (int)syscall(SYS_openat2, judged_in, value, &how, sizeof how);
  if (fd < 0) return 0;
  path_of_fd(fd, path);
  close(fd);
  const struct broker_place *place = place_of(path);
  if (!place || place->kind != PLACE_ROOT) return 0;
  path_of_fd(judged_in, path);
  int length = snprintf(target, sizeof target, value[0] == '/' ? "%.0s%s" : "%s/%s", path, value);
  return length > 0 && (size_t)length < sizeof target && broker_take_named_path(target) == 0;
}

static int write_all(int fd, const char *text, size_t size) {
  for (size_t done = 0; done < size;) {
    ssize_t n = write(fd, text + done, size - done);
    if (n < 0 && errno != EINTR) return -1;
    if (n > 0) done += (size_t)n;
  }
  return 0;
}

/* Replaces a file by a text with a rename: another process may still have the judged file open. If
 * the old text is the same, the file stays. 0, or the errno for the caller. */
static int write_in_place(int folder, const char *name, const char *text, size_t size, mode_t mode) {
  static const char aside[] = ".cordon-config.lock";
  int error = 0;
  unlinkat(folder, aside, 0); /* left by a killed command */
  int fd = openat(folder, aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0 || write_all(fd, text, size) || fchmod(fd, mode & 0777) || renameat(folder, aside, folder, name))
    error = errno;
  if (fd >= 0) close(fd);
  if (fd >= 0 && error) unlinkat(folder, aside, 0);
  return error;
}

/* Journals a replaced file. Returns 0, or the errno with which it is not replaced. */
static int note_replaced(int folder, const char *name, const struct stat *before, uint64_t mount) {
  static struct spot s;
  uint32_t number = 0;
  memset(&s, 0, sizeof s);
  s.parent = folder;
  s.object = -1;
  s.is_there = 1;
  s.about = *before;
  s.mount = mount;
  path_of_fd(folder, s.path);
  size_t length = strlen(s.path);
  if (!has_journal() || length == 0 || length + strlen(name) + 2 > sizeof s.path ||
      strlen(name) >= sizeof s.name)
    return has_journal() ? ENAMETOOLONG : 0;
  strcpy(s.name, name);
  s.path[length] = '/';
  strcpy(s.path + length + 1, name);
  s.place = place_of(s.path);
  if (look_by_name(folder, "", AT_EMPTY_PATH, &s.folder, &s.folder_mount)) return errno;
  if (!s.place) return 0;
  uint8_t kept = keep_removed(&s, &number);
  int error = may_not_lose(kept, 0) ? EDQUOT : journal('u', &s, NULL, kept, number);
  if (s.object >= 0) close(s.object);
  s.object = -1;
  s.is_there = 0;
  if (error) drop_kept(&s, kept, number);
  return error ? error : journal('c', &s, NULL, 0, 0);
}

int write_anew(int folder, const char *name, const char *text, size_t size) {
  struct stat before;
  uint64_t mount;
  if (look_by_name(folder, name, AT_SYMLINK_NOFOLLOW, &before, &mount)) return errno;
  int error = note_replaced(folder, name, &before, mount);
  if (!error) error = write_in_place(folder, name, text, size, before.st_mode);
  if (error) return error;
  struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, before.st_mtim};
  (void)utimensat(folder, name, times, AT_SYMLINK_NOFOLLOW);
  if (seen(&before) & SEEN_MADE) see_made(folder, name);
  return 0;
}

/* Judges the configuration of a folder that becomes a repository: all of it is new. 0, or the errno
 * for the caller. */
int settle_config(int folder, const char *name) {
  size_t size = 0;
  char *text = read_config(folder, name, &size);
  judged_in = folder;
  int error = text && is_harmless(text, "") ? write_anew(folder, name, text, size) : EROFS;
  free(text);
  return error;
}

/* Replaces a configuration by another. Returns 0, or the errno for the caller. */
int place_config(const struct spot *from, const struct spot *to) {
  size_t size = 0, old_size = 0;
  char *text = read_config(from->parent, from->name, &size),
       *before = read_config(to->parent, to->name, &old_size);
  judged_in = to->parent;
  /* An unreadable old configuration could contain anything. */
  int error = text && (before || !to->is_there) && is_harmless(text, before ? before : "") ? 0 : EROFS;
  if (error == 0) error = write_in_place(to->parent, to->name, text, size, from->about.st_mode);
  /* It is replaced, even if the other name stays. */
  if (error == 0) (void)unlinkat(from->parent, from->name, 0);
  free(text);
  free(before);
  return error;
}
