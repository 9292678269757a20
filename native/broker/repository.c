/* Folders that git accepts as a repository, whatever their name. The last mark (`objects`, `refs`,
 * and `HEAD` or `worktrees`) makes a folder one, so each mark is judged on creation: all that git
 * would run or read there must be harmless by then. An existing repository is protected like a
 * `.git`. Only worktrees may point to another repository's settings (`commondir`). */
#define _GNU_SOURCE
#include "broker.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define MAX_DEPTH 128 /* of a folder that is searched for links */

enum part { PART_NONE, PART_MARK, PART_CONFIG, PART_HOOKS, PART_POINTER };

static const struct { const char *name; enum part part;
} parts[] = {
    {"objects", PART_MARK},           {"refs", PART_MARK},         {"HEAD", PART_MARK},
    {"worktrees", PART_MARK},         {"config", PART_CONFIG},     {"hooks", PART_HOOKS},
    {"config.worktree", PART_CONFIG}, {"commondir", PART_POINTER}, {"remotes", PART_HOOKS},
    {"branches", PART_HOOKS},
};

/* Folders whose files git runs, or reads remotes from: their addresses are judged in the configuration
 * alone. */
static const char *const filled[] = {"hooks", "remotes", "branches"};
#define FILLED (sizeof filled / sizeof *filled)

static const char own_pointer[] = "../..\n"; /* from worktrees/NAME to its repository */

static enum part part_of(const char *name) {
  if (!strchr("oOrRhHwWcCbB", name[0])) return PART_NONE;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (!strcasecmp(name, parts[i].name)) return parts[i].part;
  return PART_NONE;
}

/* Looks up a name in a folder, `up` levels above an open one. */
static int look_in(int folder, const char *up, const char *name, struct stat *about) {
  char path[PATH_MAX + NAME_MAX];
  snprintf(path, sizeof path, "%s%s", up, name);
  return fstatat(folder, path, about, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Whether a folder is a repository, or becomes one with one more name. */
static int is_repository(int folder, const char *up, const char *more) {
  struct stat about;
#define HAS(name) (!strcasecmp(more, name) || look_in(folder, up, name, &about))
  return HAS("objects") && HAS("refs") && (HAS("HEAD") || HAS("worktrees"));
#undef HAS
}

static int has_pointer(int folder, const char *up) {
  struct stat about;
  return look_in(folder, up, "commondir", &about) && !S_ISDIR(about.st_mode);
}

/* The last names of a path: 0 is the name itself, 1 its folder's. */
static const char *name_above(const char *path, int level, size_t *length) {
  const char *end = path + strlen(path), *start = end;
  for (;;) {
    while (start > path && start[-1] != '/') start--;
    *length = (size_t)(end - start);
    if (level-- == 0 || start == path) return level < 0 ? start : NULL;
    end = --start;
  }
}

static int is_named(const char *path, int level, const char *name) {
  size_t length;
  const char *found = name_above(path, level, &length);
  return found && length == strlen(name) && !strncasecmp(found, name, length);
}

/* The folder of a spot, by path if the caller passed a descriptor. The caller closes it if it is
 * not the spot's. */
static int folder_of(const struct spot *s) {
  char path[PATH_MAX];
  if (s->parent >= 0) return s->parent;
  const char *slash = strrchr(s->path, '/');
  size_t length = slash ? (size_t)(slash - s->path) : 0;
  if (length == 0) return -1;
  memcpy(path, s->path, length);
  path[length] = 0;
  return open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Whether git creates this folder for a worktree: its settings are those of the surrounding
 * repository. */
static int is_worktree_place(const struct spot *s, int folder) {
  return is_named(s->path, 2, "worktrees") && is_repository(folder, "../../", "");
}

static int is_in_filled(const struct spot *s) {
  for (size_t i = 0; i < FILLED; i++)
    if (is_named(s->path, 1, filled[i])) return 1;
  return 0;
}

/* Samples do not run under their names. Anything else, or an unreadable folder, may run. */
static int has_files(int folder, const char *name) {
  struct stat about;
  if (!look_in(folder, "", name, &about)) return 0;
  int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR *list = fd < 0 ? NULL : fdopendir(fd);
  int found = 0;
  if (!list) {
    if (fd >= 0) close(fd);
    return 1;
  }
  for (struct dirent *entry; !found && (entry = readdir(list));) {
    size_t length = strlen(entry->d_name);
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    found = length <= 7 || strcmp(entry->d_name + length - 7, ".sample");
  }
  closedir(list);
  return found;
}

/* Rewrites a file of a folder that becomes a repository: another process may have it open. */
static int settle_file(int folder, const char *name, int (*settle)(int, const char *)) {
  struct stat about;
  if (!look_in(folder, "", name, &about) || S_ISDIR(about.st_mode)) return 0;
  return settle(folder, name);
}

static int settle_pointer(int folder, const char *name) {
  char text[sizeof own_pointer + 1];
  int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
  if (fd >= 0) close(fd);
  if (n != (ssize_t)sizeof own_pointer - 1 || memcmp(text, own_pointer, (size_t)n)) return EROFS;
  return write_anew(folder, name, own_pointer, (size_t)n);
}

/* git writes its logs, index and messages through a link, as the person who commits. In a repository
 * a link may only resolve further down in its folder, wherever that moves, and to nothing that git
 * runs. git itself creates such links (HEAD, and a test whether links work). */
static int is_downward(const char *target) {
  if (target[0] == '/') return 0;
  for (const char *at = target; *at;) {
    char name[NAME_MAX + 1];
    size_t length = strcspn(at, "/");
    if (length > NAME_MAX) return 0;
    memcpy(name, at, length);
    name[length] = 0;
    if (!strcmp(name, "..") || part_of(name) > PART_MARK) return 0;
    at += length + strspn(at + length, "/");
  }
  return 1;
}

/* Other tools write to their folders in the same way. */
static int is_store(const char *name, size_t length) {
  static const char *const names[] = {".git", ".hg", ".jj", ".sl"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (length == strlen(names[i]) && !strncasecmp(name, names[i], length)) return 1;
  return 0;
}

/* Whether a path lies in a repository: below a `.git` or a folder with its marks. */
static int is_in_repository(const struct spot *s) {
  char up[PATH_MAX] = "";
  size_t length, root = s->place ? s->place->length : 0;
  int folder = folder_of(s), found = folder < 0;
  const char *name;
  for (int level = 1; !found && (name = name_above(s->path, level, &length)); level++) {
    if ((size_t)(name - s->path) + length < root || strlen(up) + 4 > sizeof up) break;
    found = is_store(name, length) || is_repository(folder, up, "");
    strcat(up, "../");
  }
  if (folder >= 0 && folder != s->parent) close(folder);
  return found;
}

/* Whether a folder contains a link that a repository may not. One that cannot be searched may. */
static int has_outward_link(int folder, const char *of, int depth) {
  char target[PATH_MAX];
  mode_t mode;
  DIR *list = depth < MAX_DEPTH ? open_list(folder, of, &mode) : NULL;
  int found = !list;
  for (struct dirent *entry; !found && (entry = readdir(list));) {
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    int is_unknown = entry->d_type == DT_UNKNOWN;
    ssize_t n = entry->d_type == DT_LNK || is_unknown
                    ? readlinkat(dirfd(list), entry->d_name, target, sizeof target - 1)
                    : -1;
    if (n >= 0) {
      target[n] = 0;
      found = !is_downward(target);
    } else if (entry->d_type == DT_LNK) found = 1;
    else if (entry->d_type == DT_DIR || is_unknown) {
      struct stat about;
      if (!is_unknown || (look_in(dirfd(list), "", entry->d_name, &about) && S_ISDIR(about.st_mode)))
        found = has_outward_link(dirfd(list), entry->d_name, depth + 1);
    }
  }
  if (list) close_list(list, mode);
  return found;
}

/* Judges a new link, or a moved one. */
int judge_link_text(const struct spot *s, const char *target) {
  return !is_loose(s) && !is_downward(target) && is_in_repository(s) ? EROFS : 0;
}

/* Judges the links that come into a repository with a moved object. */
int judge_links_of(struct spot *from, const struct spot *to) {
  char target[PATH_MAX];
  size_t length;
  const char *name = name_above(to->path, 0, &length);
  if (is_loose(to) || (!S_ISLNK(from->about.st_mode) && !S_ISDIR(from->about.st_mode))) return 0;
  if (!is_in_repository(to) && !(name && is_store(name, length))) return 0;
  if (open_object(from) < 0) return EROFS;
  if (S_ISDIR(from->about.st_mode))
    return !is_in_repository(from) && has_outward_link(from->object, "", 0) ? EROFS : 0;
  ssize_t n = readlinkat(from->object, "", target, sizeof target - 1);
  if (n < 0) return EROFS;
  target[n] = 0;
  return is_downward(target) ? 0 : EROFS;
}

/* Judges a new mark. */
static int judge_mark(const struct spot *s, int folder, const char *name) {
  int error = 0;
  if (!strcasecmp(name, "HEAD") && !s->is_there && has_pointer(folder, ""))
    error = is_worktree_place(s, folder) ? settle_file(folder, "commondir", settle_pointer) : EROFS;
  if (error || is_repository(folder, "", "") || !is_repository(folder, "", name)) return error;
  for (size_t i = 0; i < FILLED; i++)
    if (has_files(folder, filled[i])) return EROFS;
  if (has_pointer(folder, "") || has_outward_link(folder, "", 0)) return EROFS;
  error = settle_file(folder, "config", settle_config);
  return error ? error : settle_file(folder, "config.worktree", settle_config);
}

static int judge_part(const struct spot *s, enum change change, int folder, const char *name) {
  struct stat about;
  switch (part_of(name)) {
  case PART_MARK: return change == CHANGE_WRITE ? 0 : judge_mark(s, folder, name);
  case PART_CONFIG:
    return change != CHANGE_PLACE && change != CHANGE_FOLDER && is_repository(folder, "", "") ? EROFS : 0;
  case PART_HOOKS: return change != CHANGE_FOLDER && is_repository(folder, "", "") ? EROFS : 0;
  case PART_POINTER:
    if (change == CHANGE_FOLDER || (change == CHANGE_WRITE && S_ISDIR(s->about.st_mode))) return 0;
    if (is_worktree_place(s, folder)) return change == CHANGE_POINTER ? 0 : EROFS;
    return is_repository(folder, "", "") || look_in(folder, "", "HEAD", &about) ? EROFS : 0;
  default: break;
  }
  size_t length = strlen(name);
  int is_sample = length > 7 && !strcmp(name + length - 7, ".sample");
  return !is_sample && is_in_filled(s) && is_repository(folder, "../", "") ? EROFS : 0;
}

static int is_part(const struct spot *s, char *name) {
  size_t length;
  const char *found = name_above(s->path, 0, &length);
  if (!found || length == 0 || length > NAME_MAX) return 0;
  memcpy(name, found, length);
  name[length] = 0;
  return part_of(name) != PART_NONE || is_in_filled(s);
}

/* 0, or the errno for the caller. A removal makes no repository. */
int judge_repository(const struct spot *s, enum change change) {
  char name[NAME_MAX + 1];
  if (change != CHANGE_MAKE && change != CHANGE_FOLDER && change != CHANGE_PLACE && change != CHANGE_WRITE &&
      change != CHANGE_POINTER)
    return 0;
  if (!is_part(s, name)) return 0;
  int folder = folder_of(s);
  if (folder < 0) return EROFS;
  int error = judge_part(s, change, folder, name);
  if (folder != s->parent) close(folder);
  return error;
}

int is_repository_config(const struct spot *s) {
  char name[NAME_MAX + 1];
  return s->parent >= 0 && is_part(s, name) && part_of(name) == PART_CONFIG &&
         is_repository(s->parent, "", "");
}

/* A worktree folder elsewhere would point to an unjudged repository. */
int is_worktree_folder(struct spot *s) {
  struct stat about;
  if (!s->is_there || !S_ISDIR(s->about.st_mode)) return 0;
  return open_object(s) < 0 || (has_pointer(s->object, "") && look_in(s->object, "", "HEAD", &about));
}

/* A pointer that git is about to rename into place always gets the one harmless content. */
int is_own_pointer(const struct spot *s) {
  return s->parent >= 0 && !is_loose(s) && !strcmp(s->name, "commondir") && is_worktree_place(s, s->parent);
}

int write_own_pointer(int fd) {
  return write(fd, own_pointer, sizeof own_pointer - 1) == (ssize_t)sizeof own_pointer - 1 ? 0 : -1;
}
