/* The places that may be read and run, and the Landlock rules behind the broker. */
#define _GNU_SOURCE
#include "bare.h"
#include "../init/init.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Newer than some headers. */
#define WALL_TRUNCATE (1ULL << 14)
#define WALL_BIND_TCP (1ULL << 0)
#define WALL_CONNECT_TCP (1ULL << 1)
#define WALL_ABSTRACT (1ULL << 0)
#define WALL_SIGNAL (1ULL << 1)

#define READ_RIGHTS (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define FILE_READ_RIGHTS (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE)
#define ALL_RIGHTS                                                                                           \
  (READ_RIGHTS | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |                             \
   LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |             \
   LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |               \
   LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REFER | WALL_TRUNCATE)

/* Landlock checks truncation from this version; before it, a file outside could be emptied. */
#define OLDEST 3
#define WITH_TCP 4
#define WITH_SCOPES 6

static const char **shown;
static size_t shown_count;

int bare_take(const char *path) {
  const char **grown = realloc(shown, (shown_count + 1) * sizeof *shown);
  if (!grown) return -1;
  shown = grown;
  shown[shown_count++] = path;
  return 0;
}

int bare_is_on(void) { return shown_count > 0; }

static int is_at_or_below(const char *path, const char *above) {
  size_t length = strlen(above);
  if (length == 1) return 1;
  return !strncmp(path, above, length) && (path[length] == 0 || path[length] == '/');
}

int bare_shows(const char *path) {
  for (size_t i = 0; i < shown_count; i++)
    if (is_at_or_below(path, shown[i])) return 1;
  return 0;
}

int bare_is_above_shown(const char *path) {
  for (size_t i = 0; i < shown_count; i++)
    if (is_at_or_below(shown[i], path)) return 1;
  return 0;
}

static long version_of_landlock(void) {
  return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

/* Whether the broker must check signals: older versions of Landlock do not confine them. */
int bare_checks_signals(void) {
  static long version;
  if (!version) version = version_of_landlock();
  return version < WITH_SCOPES;
}

/* Whether it is the object of the plan: its name may point elsewhere by now. */
static int is_bound(const char *path, const struct stat *about) {
  for (size_t i = 0; i < setup.bound_count; i++)
    if (!strcmp(setup.bound[i].path, path))
      return setup.bound[i].device == about->st_dev && setup.bound[i].inode == about->st_ino;
  return 1;
}

static int allow(int ruleset, const char *path, uint64_t rights) {
  struct stat about;
  int fd = open_place(path);
  if (fd < 0) return errno == ENOENT || errno == EACCES ? 0 : -1; /* a missing place needs no right */
  struct landlock_path_beneath_attr beneath = {.allowed_access = rights, .parent_fd = fd};
  int bad = fstat(fd, &about) != 0;
  if (!bad && !is_bound(path, &about)) {
    errno = ESTALE;
    bad = 1;
  }
  if (!bad && !S_ISDIR(about.st_mode))
    beneath.allowed_access &= FILE_READ_RIGHTS | LANDLOCK_ACCESS_FS_WRITE_FILE;
  bad = bad || syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
  close(fd);
  return bad ? -1 : 0;
}

/* Runs in the command's process. Only these devices are writable: the broker performs every change. */
int bare_wall(void) {
  static const char *const devices[] = {"/dev/null",   "/dev/zero",    "/dev/full",
                                        "/dev/random", "/dev/urandom", "/dev/tty"};
  struct { uint64_t files, net, scoped; } attr = {.files = ALL_RIGHTS};
  long version = version_of_landlock();
  if (version < 0) return -1;
  if (version < OLDEST) {
    errno = ENOSYS;
    return -1;
  }
  if (version >= WITH_TCP) attr.net = WALL_BIND_TCP | WALL_CONNECT_TCP;
  if (version >= WITH_SCOPES) attr.scoped = WALL_ABSTRACT | WALL_SIGNAL;
  int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
  if (ruleset < 0) return -1;
  for (size_t i = 0; i < shown_count; i++)
    if (allow(ruleset, shown[i], READ_RIGHTS)) return -1;
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
    if (allow(ruleset, devices[i], LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE)) return -1;
  if (setup.has_terminal) {
    char terminal[PATH_MAX];
    path_of_fd(terminal_fd(), terminal);
    if (allow(ruleset, terminal, LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE)) return -1;
  }
  if (syscall(SYS_landlock_restrict_self, ruleset, 0)) return -1;
  close(ruleset);
  return 0;
}

/* Whether Landlock alone refuses an open: O_PATH gives no access, and writing has no right. Access
 * mode 3 is neither reading nor writing. */
static int is_walled(int flags) {
  return (flags & O_PATH) || (flags & O_ACCMODE) == O_WRONLY || (flags & O_ACCMODE) == O_RDWR;
}

/* Whether the kernel may continue a call and read its path again. Calls that need a right to change
 * are safe, because Landlock grants none. Reads are not: a shown place may contain a secret. */
int bare_may_go_on(const struct call *c) {
  switch (c->number) {
  case SYS_openat: return is_walled((int)c->args[2]);
  case SYS_mkdirat:
  case SYS_mknodat:
  case SYS_symlinkat:
  case SYS_linkat:
  case SYS_unlinkat:
  case SYS_renameat2:
  case SYS_truncate:
  case SYS_umask:
  case SYS_clone:
  case SYS_execve:
  case SYS_execveat:
  case SYS_kill:
  case SYS_tkill:
  case SYS_tgkill:
  case SYS_rt_sigqueueinfo:
  case SYS_rt_tgsigqueueinfo:
  case SYS_pidfd_send_signal: return 1;
#ifdef SYS_renameat
  case SYS_renameat: return 1;
#endif
#ifdef SYS_open
  case SYS_open: return is_walled((int)c->args[1]);
  case SYS_creat:
  case SYS_mkdir:
  case SYS_mknod:
  case SYS_symlink:
  case SYS_link:
  case SYS_unlink:
  case SYS_rmdir:
  case SYS_rename:
  case SYS_fork:
  case SYS_vfork: return 1;
#endif
  default: return 0;
  }
}
