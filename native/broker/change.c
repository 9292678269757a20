/* Calls that create, link, move and remove names, and that change a file by its path. */
#define _GNU_SOURCE
#include "../bare/bare.h"
#include "broker.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void refuse(const struct call *c, const struct spot *s, enum change change, int error) {
  journal_refused(s->path, change, error);
  answer(c, error);
}

void refuse_making(const struct call *c, const struct spot *s, int error) {
  refuse(c, s, CHANGE_MAKE, error);
}

/* Checks a new name; `source` is the target of a hard link. Returns 0 if it may be created;
 * otherwise the call is answered. */
static int begin_naming(const struct call *c, const struct spot *s, const struct spot *source,
                        enum change change) {
  int error = judge(s, change);
  if (error) {
    refuse(c, s, change, error);
    return -1;
  }
  if ((error = journal('c', s, source, 0, 0))) {
    answer(c, error);
    return -1;
  }
  return 0;
}

int begin_making(const struct call *c, const struct spot *s, enum change change) {
  return begin_naming(c, s, NULL, change);
}

void end_making(const struct call *c, const struct spot *s, int failed) {
  int error = failed ? errno : 0;
  if (failed) journal_failed(s, 0, 0);
  else see_made(s->parent, s->name);
  answer(c, error);
}

/* Resolves a new name. Returns 0 if the broker is to create it; otherwise the call is answered. */
static int find_new(const struct call *c, int at, uint64_t path, struct spot *s) {
  static char text[PATH_MAX];
  if (copy_text(c, path, text, sizeof text)) {
    let_go_on(c);
    return -1;
  }
  if (find_spot(c, at, text, 0, s)) {
    not_found(c);
    return -1;
  }
  if (is_ours(s) && !s->is_there) return 0;
  if (is_ours(s)) answer(c, EEXIST);
  else if (s->is_there) let_go_on(c);
  else leave_outside(c, s);
  leave_spot(s);
  return -1;
}

void answer_make(const struct call *c, int at, uint64_t path, mode_t mode, dev_t device) {
  static struct spot s;
  int is_folder = S_ISDIR(mode);
  if (find_new(c, at, path, &s)) return;
  if (begin_making(c, &s, is_folder ? CHANGE_FOLDER : CHANGE_MAKE) == 0) {
    use_umask(umask_of(c->tid));
    end_making(c, &s,
               is_folder ? mkdirat(s.parent, s.name, mode & 07777) : mknodat(s.parent, s.name, mode, device));
  }
  leave_spot(&s);
}

void answer_symlink(const struct call *c, uint64_t text, int at, uint64_t path) {
  static struct spot s;
  static char target[PATH_MAX];
  if (copy_text(c, text, target, sizeof target) || !target[0]) return let_go_on(c);
  if (find_new(c, at, path, &s)) return;
  if (is_on_named_path(s.path) || judge_link(&s) || judge_link_text(&s, target) ||
      judge_target(&s, target))
    refuse(c, &s, CHANGE_MAKE, EROFS);
  else if (begin_making(c, &s, CHANGE_MAKE) == 0) end_making(c, &s, symlinkat(target, s.parent, s.name));
  leave_spot(&s);
}

/* The source of a hard link: a name, a link's target, or a descriptor of the caller. */
static int find_source(const struct call *c, int at, uint64_t path, int flags, struct spot *s) {
  static char text[PATH_MAX];
  if (copy_text(c, path, text, sizeof text)) return -1;
  if (text[0] == 0 && (flags & AT_EMPTY_PATH)) return find_object(c, at, s);
  /* A trailing slash follows a link. */
  size_t length = strlen(text);
  return find_spot(c, at, text, (flags & AT_SYMLINK_FOLLOW) || (length > 0 && text[length - 1] == '/'), s);
}

static int link_source(const struct spot *from, const struct spot *to) {
  char link[32];
  if (from->parent >= 0) return linkat(from->parent, from->name, to->parent, to->name, 0);
  snprintf(link, sizeof link, "/proc/self/fd/%d", from->object);
  return linkat(AT_FDCWD, link, to->parent, to->name, AT_SYMLINK_FOLLOW);
}

void answer_link(const struct call *c, int from_at, uint64_t from_path, int to_at, uint64_t to_path,
                 int flags) {
  static struct spot from, to;
  if ((flags & ~(AT_EMPTY_PATH | AT_SYMLINK_FOLLOW)) || find_source(c, from_at, from_path, flags, &from))
    return let_go_on(c);
  /* The kernel checks the source first and refuses a directory last; Landlock would return another
   * error before that. */
  if (strchr(from.name, '/') && !(from.is_there && S_ISDIR(from.about.st_mode))) let_go_on(c);
  else if (!from.is_there) answer(c, ENOENT);
  /* A file outside the command's places would get a name inside them. */
  else if (bare_is_on() && !is_ours(&from)) answer(c, EXDEV);
  else if (find_new(c, to_at, to_path, &to) == 0) {
    /* A second name would make a protected file writable. */
    int error = is_ours(&from) && from.about.st_nlink > 0 ? judge(&from, CHANGE_WRITE) : 0;
    if (error) refuse(c, &from, CHANGE_WRITE, error);
    else if (S_ISLNK(from.about.st_mode) &&
             (is_on_named_path(to.path) || judge_link(&to) || judge_links_of(&from, &to) ||
              judge_targets_of(&from, &to)))
      refuse(c, &to, CHANGE_MAKE, EROFS);
    else if (begin_naming(c, &to, &from, CHANGE_MAKE) == 0) {
      int failed = link_source(&from, &to), error = errno;
      if (failed) journal_failed(&to, 0, 0);
      /* If all its names were inside, they still are. */
      else if (!is_shared(&from) &&
               look_by_name(to.parent, to.name, AT_SYMLINK_NOFOLLOW, &to.about, &to.mount) == 0)
        count_links(&to.about);
      answer(c, failed ? error : 0);
    }
    leave_spot(&to);
  }
  leave_spot(&from);
}

/* One name less: the inode number may be reused after the last, so forget it. */
static void after_removal(const struct spot *s, uint8_t kept, uint32_t number) {
  if (!s->is_there) return;
  if (!S_ISDIR(s->about.st_mode) && s->about.st_nlink > 1) {
    if (!(kept & KEPT_LINK)) lose_link(&s->about);
  } else if (kept & KEPT_LINK) see_gone(&s->about, number);
  else forget(&s->about);
}

static void remove_spot(const struct call *c, struct spot *s, int flags) {
  enum change change = flags & AT_REMOVEDIR ? CHANGE_UNFOLDER : CHANGE_REMOVE;
  uint32_t number = 0;
  int error = judge(s, change);
  if (error) return refuse(c, s, change, error);
  if (keep_by_move(s) == 0) return answer(c, 0);
  uint8_t kept = keep_removed(s, &number);
  if (may_not_lose(kept, 0)) return refuse(c, s, change, EDQUOT);
  if ((error = journal('u', s, NULL, kept, number))) {
    drop_kept(s, kept, number);
    return answer(c, error);
  }
  if (unlinkat(s->parent, s->name, flags)) {
    journal_failed(s, kept, number);
    return answer(c, errno);
  }
  after_removal(s, kept, number);
  answer(c, 0);
}

void answer_remove(const struct call *c, int at, uint64_t path, int flags) {
  static struct spot s;
  static char text[PATH_MAX];
  if ((flags & ~AT_REMOVEDIR) || copy_text(c, path, text, sizeof text)) return let_go_on(c);
  if (find_spot(c, at, text, 0, &s)) return not_found(c);
  int is_folder = s.is_there && S_ISDIR(s.about.st_mode);
  if (!is_ours(&s) && s.is_there) leave_outside(c, &s);
  else if (!is_ours(&s) || is_dot(&s)) let_go_on(c);
  else if (!s.is_there) answer(c, ENOENT);
  /* The wrong kind, or a file's name with a trailing slash, fails in the kernel; Landlock would
   * return another error. */
  else if (is_folder != !!(flags & AT_REMOVEDIR) || (!is_folder && strchr(s.name, '/')))
    answer(c, unlinkat(s.parent, s.name, flags) ? errno : 0);
  else remove_spot(c, &s, flags);
  leave_spot(&s);
}

/* Whether the move would separate a git setting from the place that it names, or put a link between
 * them. */
static int judge_named_paths(struct spot *from, const struct spot *to, int exchanges) {
  if (S_ISLNK(from->about.st_mode)) return is_on_named_path(to->path) ? EROFS : 0;
  if (!S_ISDIR(from->about.st_mode)) return 0;
  if (separates_named_path(from->path, exchanges)) return EROFS;
  if (is_on_named_path(to->path) && links_named_path(open_object(from), to->path)) return EROFS;
  return move_named_paths(from->path, to->path) ? ENOMEM : 0;
}

static int judge_rename(struct spot *from, struct spot *to, unsigned flags, const struct spot **about) {
  int error = judge(from, CHANGE_MOVE);
  *about = from;
  if (!error && !is_loose(to) &&
      (is_worktree_folder(from) || ((flags & RENAME_EXCHANGE) && is_worktree_folder(to))))
    error = EROFS;
  if (error) return error;
  if ((error = judge_tree(from, to)) || (error = judge_links_of(from, to)) ||
      (error = judge_targets_of(from, to))) {
    *about = to;
    return error;
  }
  *about = to;
  if ((error = judge_named_paths(from, to, (flags & RENAME_EXCHANGE) != 0)) ||
      (error = judge(to, CHANGE_PLACE)))
    return error;
  if (!to->is_there) return 0;
  /* The replaced object disappears: neither it nor anything below it may be protected in place. */
  if (contains_fixed(to->path)) return EBUSY;
  if (!(flags & RENAME_EXCHANGE)) return 0;
  if ((error = judge(to, CHANGE_MOVE))) return error;
  *about = from;
  if ((error = judge_tree(to, from)) || (error = judge_links_of(to, from)) ||
      (error = judge_targets_of(to, from)) ||
      (error = judge_named_paths(to, from, 1)))
    return error;
  return judge(from, CHANGE_PLACE);
}

/* The errno of a rename that cannot replace the target, or 0. */
static int fails_over(const struct spot *from, const struct spot *to, unsigned flags) {
  if (flags & RENAME_EXCHANGE) return 0;
  if (to->is_there && (flags & RENAME_NOREPLACE)) return EEXIST;
  if (S_ISDIR(from->about.st_mode)) {
    size_t length = strlen(from->path);
    if (!strncmp(to->path, from->path, length) && to->path[length] == '/') return EINVAL;
    return to->is_there && !S_ISDIR(to->about.st_mode) ? ENOTDIR : 0;
  }
  return strchr(from->name, '/') || strchr(to->name, '/') ? ENOTDIR : 0;
}

static void rename_spot(const struct call *c, struct spot *from, struct spot *to, unsigned flags) {
  const struct spot *about;
  uint32_t number = 0;
  uint8_t kept = 0;
  int exchanges = (flags & RENAME_EXCHANGE) != 0;
  int same = to->is_there && from->about.st_ino == to->about.st_ino && from->about.st_dev == to->about.st_dev;
  int error = judge_rename(from, to, flags, &about);
  int by_content = is_judged_by_content(to) || (exchanges && is_judged_by_content(from));
  /* Two names of one file: the kernel reports success and does nothing. */
  if (same)
    return answer(c,
                  syscall(SYS_renameat2, from->parent, from->name, to->parent, to->name, flags) ? errno : 0);
  if (!error && by_content && (flags || S_ISDIR(from->about.st_mode))) error = EROFS;
  /* A copy without credentials is mounted over it: a file derived from the copy must not replace
   * it. */
  if (!error && by_content && to->is_there && to->mount != to->folder_mount) error = EBUSY;
  if (error) return refuse(c, about, CHANGE_PLACE, error);
  /* A rename that fails anyway is not kept first: the extra link would change the ctime that undo
   * compares. */
  if ((error = fails_over(from, to, flags))) return answer(c, error);
  if (!exchanges) kept = keep_removed(to, &number);
  if (may_not_lose(kept, 0)) return refuse(c, to, CHANGE_PLACE, EDQUOT);
  if ((error = journal(exchanges ? 'x' : 'r', from, to, kept, number))) {
    drop_kept(to, kept, number);
    return answer(c, error);
  }
  if (by_content) error = place_config(from, to);
  else error = syscall(SYS_renameat2, from->parent, from->name, to->parent, to->name, flags) ? errno : 0;
  if (error) {
    journal_failed(to, kept, number);
    if (by_content && error == EROFS) return refuse(c, to, CHANGE_PLACE, error);
    return answer(c, error);
  }
  if (S_ISDIR(from->about.st_mode) || exchanges) forget_parents();
  if (!exchanges) after_removal(to, kept, number);
  answer(c, 0);
}

/* The kernel compares the mounts of the two folders before it checks the names. */
static int are_mounts_apart(const struct spot *from, const struct spot *to) {
  if (from->parent < 0 || to->parent < 0) return 0;
  return from->folder_mount && to->folder_mount && from->folder_mount != to->folder_mount;
}

void answer_rename(const struct call *c, int from_at, uint64_t from_path, int to_at, uint64_t to_path,
                   unsigned flags) {
  static struct spot from, to;
  static char from_text[PATH_MAX], to_text[PATH_MAX];
  if (copy_text(c, from_path, from_text, sizeof from_text) || copy_text(c, to_path, to_text, sizeof to_text))
    return let_go_on(c);
  if ((flags & ~(RENAME_NOREPLACE | RENAME_EXCHANGE | RENAME_WHITEOUT)) ||
      ((flags & RENAME_EXCHANGE) && flags != RENAME_EXCHANGE))
    return let_go_on(c);
  if (find_spot(c, from_at, from_text, 0, &from)) return not_found(c);
  if (find_spot(c, to_at, to_text, 0, &to)) not_found(c);
  else if (are_mounts_apart(&from, &to) && !(flags & RENAME_WHITEOUT)) {
    answer(c, EXDEV);
    leave_spot(&to);
  } else if (is_ours(&from) && !from.is_there && !is_dot(&from) && !is_dot(&to) &&
             !(flags & RENAME_WHITEOUT)) {
    answer(c, ENOENT);
    leave_spot(&to);
  } else {
    int is_plain = from.is_there && !is_dot(&from) && !is_dot(&to) && !(flags & RENAME_WHITEOUT);
    if (is_plain && is_ours(&from) && is_ours(&to)) rename_spot(c, &from, &to, flags);
    /* Two places are two mounts: EXDEV, while Landlock would return another error. */
    else if (is_plain && from.place && to.place && (is_ours(&from) || is_ours(&to))) answer(c, EXDEV);
    else let_go_on(c);
    leave_spot(&to);
  }
  leave_spot(&from);
}
