/* Places of the person's home that programs run or take settings from. No link in the roots may
 * resolve to one, because the person's own tools write through links: a lock file, a log, a folder
 * of built files. A folder in the path of a link may become a link later. So no link may point to a
 * folder above such a place either, and none may climb from a folder to a name of one. */
#define _GNU_SOURCE
#include "broker.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define MAX_DEPTH 128 /* of a folder that is searched before a move */

static struct target {
  const char *path;
  int is_folder; /* what is below it may be a target of links, such as a program in ~/.local/bin */
} *targets;
static size_t target_count;
static const char *home;

/* A line `home<TAB>PATH`, `target<TAB>PATH` or `folder<TAB>PATH`. Returns 0 for another. */
int broker_take_target(const char *word, const char *path) {
  int is_folder = !strcmp(word, "folder");
  if (!strcmp(word, "home")) home = path;
  else if (!is_folder && strcmp(word, "target")) return 0;
  else {
    struct target *grown = realloc(targets, (target_count + 1) * sizeof *targets);
    if (!grown) return -1;
    targets = grown;
    targets[target_count++] = (struct target){path, is_folder};
  }
  return 1;
}

static int is_below(const char *path, const char *folder) {
  size_t length = strlen(folder);
  return !strncasecmp(path, folder, length) && (path[length] == 0 || path[length] == '/');
}

/* Whether a path is a target, below one, or above one. */
static int is_target(const char *path) {
  if (home && is_below(home, path)) return 1;
  for (size_t i = 0; i < target_count; i++)
    if (is_below(targets[i].path, path) || (!targets[i].is_folder && is_below(path, targets[i].path)))
      return 1;
  return 0;
}

/* Whether a path may mean a folder of the process that follows it, as /proc/self/cwd does. */
static int is_own_view(const char *path) {
  struct stat about;
  if (!is_below(path, "/proc")) return 0;
  for (const char *at = path; (at = strchr(at, '/')); at++)
    if (is_below(at, "/cwd") || is_below(at, "/root")) return 1;
  return stat(path, &about) || S_ISDIR(about.st_mode);
}

/* Removes `.`, `..` and empty names from an absolute path. */
static void normalize(char *path) {
  char *to = path;
  for (const char *at = path; *at;) {
    size_t length = strspn(at, "/"), name = strcspn(at + length, "/");
    const char *start = at + length;
    at = start + name;
    if (name == 0 || (name == 1 && start[0] == '.')) continue;
    if (name == 2 && !strncmp(start, "..", 2)) {
      while (to > path && *--to != '/') {}
      continue;
    }
    *to++ = '/';
    memmove(to, start, name);
    to += name;
  }
  *to = 0;
}

/* What follows the last `..` after a name, with a slash, or NULL. Where such a `..` arrives depends
 * on what the name is at the time. */
static const char *climbed(const char *text) {
  const char *rest = NULL;
  int has_name = 0;
  for (const char *at = text + strspn(text, "/"); *at; at += strspn(at, "/")) {
    size_t length = strcspn(at, "/");
    int is_up = length == 2 && !strncmp(at, "..", 2);
    has_name |= !is_up && !(length == 1 && *at == '.');
    at += length;
    if (is_up && has_name) rest = at;
  }
  return rest;
}

/* Whether a path from an unknown folder may be a target, below one or above one. */
static int may_be_target(const char *rest) {
  char path[PATH_MAX];
  if ((size_t)snprintf(path, sizeof path, "%s", rest) >= sizeof path) return 1;
  normalize(path);
  size_t whole = strlen(path);
  for (size_t i = 0; i < target_count; i++) {
    const char *target = targets[i].path;
    size_t length = strlen(target);
    for (const char *at = target; (at = strcasestr(at, path)); at++)
      if (at[whole] == 0 || at[whole] == '/') return 1;
    for (size_t n = 1; !targets[i].is_folder && n <= whole && n <= length; n++)
      if ((n == whole || path[n] == '/') && !strncasecmp(target + length - n, path, n)) return 1;
  }
  return 0;
}

/* Resolves what exists of an absolute path; the rest is as written. */
static int resolve(const char *path, char into[PATH_MAX]) {
  char head[2 * PATH_MAX];
  snprintf(head, sizeof head, "%s", path);
  for (size_t end = strlen(head);;) {
    head[end] = 0;
    if (realpath(end ? head : "/", into)) {
      size_t length = strcmp(into, "/") ? strlen(into) : 0, rest = strlen(path + end);
      if (length + rest >= PATH_MAX) return -1;
      memcpy(into + length, path + end, rest + 1);
      normalize(into);
      return 0;
    }
    if (end == 0) return -1;
    while (end > 0 && head[end - 1] == '/') end--;
    while (end > 0 && head[end - 1] != '/') end--;
    while (end > 0 && head[end - 1] == '/') end--;
  }
}

/* Judges a link at a path by its text: as written, and as it resolves now. */
static int judge_at(const char *path, const char *text) {
  char whole[2 * PATH_MAX], real[PATH_MAX];
  int is_whole = text[0] == '/', folder = is_whole ? 0 : (int)(strrchr(path, '/') - path);
  int length = snprintf(whole, sizeof whole, "%.*s%s%s", folder, path, is_whole ? "" : "/", text);
  if (length < 0 || (size_t)length >= sizeof whole) return EROFS;
  if (target_count == 0) return 0;
  const char *rest = climbed(text);
  if (rest && may_be_target(rest)) return EROFS;
  int found = resolve(whole, real) ? 0 : is_target(real);
  normalize(whole);
  return found || is_target(whole) || is_own_view(whole) ? EROFS : 0;
}

int judge_target(const struct spot *s, const char *text) { return is_loose(s) ? 0 : judge_at(s->path, text); }

/* The list of a folder, or of the open one if the name is empty. Its owner may read it until
 * close_list, whatever its mode: a folder that is shut for a move could hide links. */
DIR *open_list(int folder, const char *of, mode_t *mode) {
  char link[32];
  struct stat about;
  DIR *list = NULL;
  /* A name cannot be looked up in a folder that is shut, not even its own. */
  int at = *of ? openat(folder, of, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
               : fcntl(folder, F_DUPFD_CLOEXEC, 0);
  if (at < 0) return NULL;
  snprintf(link, sizeof link, "/proc/self/fd/%d", at);
  if (fstat(at, &about)) return close(at), NULL;
  *mode = about.st_mode & 07777;
  int is_shut = (*mode & 0500) != 0500;
  if (!is_shut || !chmod(link, *mode | 0500)) {
    int fd = open(link, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    list = fd < 0 ? NULL : fdopendir(fd);
    if (!list && fd >= 0) close(fd);
    if (!list && is_shut) chmod(link, *mode);
  }
  close(at);
  return list;
}

void close_list(DIR *list, mode_t mode) {
  struct stat about;
  /* A mode that somebody set meanwhile stays. */
  if ((mode & 0500) != 0500 && !fstat(dirfd(list), &about) && (about.st_mode & 0777) == ((mode | 0500) & 0777))
    fchmod(dirfd(list), mode);
  closedir(list);
}

static int judge_entries(int folder, const char *of, char path[2 * PATH_MAX], int depth) {
  char text[PATH_MAX];
  struct stat about;
  mode_t mode;
  DIR *list = depth < MAX_DEPTH ? open_list(folder, of, &mode) : NULL;
  size_t end = strlen(path);
  int error = list ? 0 : EROFS;
  for (struct dirent *entry; !error && (entry = readdir(list));) {
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") || entry->d_type == DT_REG) continue;
    if (end + strlen(entry->d_name) + 2 > PATH_MAX) {
      error = EROFS;
      break;
    }
    sprintf(path + end, "/%s", entry->d_name);
    ssize_t n = readlinkat(dirfd(list), entry->d_name, text, sizeof text - 1);
    if (n >= 0) {
      text[n] = 0;
      error = judge_at(path, text);
    } else if (entry->d_type == DT_LNK) error = EROFS;
    else if (entry->d_type == DT_DIR ||
             (!fstatat(dirfd(list), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) && S_ISDIR(about.st_mode)))
      error = judge_entries(dirfd(list), entry->d_name, path, depth + 1);
    path[end] = 0;
  }
  if (list) close_list(list, mode);
  return error;
}

static size_t depth_of(const char *path) {
  size_t depth = 0;
  for (; *path; path++) depth += *path == '/';
  return depth;
}

/* Judges the links that a rename moves: relative ones mean another place at another depth. */
int judge_targets_of(struct spot *from, const struct spot *to) {
  char path[2 * PATH_MAX];
  if (is_loose(to) || target_count == 0) return 0;
  if (S_ISLNK(from->about.st_mode)) {
    if (open_object(from) < 0) return EROFS;
    ssize_t n = readlinkat(from->object, "", path, PATH_MAX - 1);
    if (n < 0) return EROFS;
    path[n] = 0;
    return judge_at(to->path, path);
  }
  if (!S_ISDIR(from->about.st_mode) ||
      (from->place == to->place && depth_of(from->path) == depth_of(to->path)))
    return 0;
  strcpy(path, to->path);
  return open_object(from) < 0 ? EROFS : judge_entries(from->object, "", path, 0);
}
