/* The file broker: the Landlock rules around the command, and a thread that answers the calls which
 * they would refuse. */
#define _GNU_SOURCE
#include "broker.h"
#include "../bare/bare.h"
#include "../init/learn.h"
#include "../programs/programs.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif
#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP 1UL
#endif

#define RETRY_MS 2
#define MAX_WAITING 64
#define SHUT_SECONDS 10
#define FILE_RIGHTS (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE)
#define FOLDER_RIGHTS                                                                                        \
  (LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |           \
   LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |                \
   LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM |              \
   LANDLOCK_ACCESS_FS_REFER)

static struct broker_place *places;
static size_t place_count, root_count;

int broker_take_place(enum place_kind kind, const char *path) {
  struct broker_place *grown = realloc(places, (place_count + 1) * sizeof *places);
  if (!grown || (kind != PLACE_ROOT && kind != PLACE_FREE && kind != PLACE_LOOSE)) return -1;
  places = grown;
  places[place_count++] =
      (struct broker_place){.kind = kind, .path = path, .length = strlen(path), .host = -1};
  root_count += kind == PLACE_ROOT;
  return kind == PLACE_ROOT ? lock_root(path) : 0;
}

/* The broker is on in learn mode too, even if nothing may be changed. */
int broker_is_on(void) { return root_count > 0 || learn_is_on() || programs_is_on() || bare_is_on(); }

/* Whether the broker performs changes there. */
int is_ours(const struct spot *s) { return s->place && s->place->kind != PLACE_FREE; }

/* Whether changes there are neither judged nor kept. */
int is_loose(const struct spot *s) { return s->place && s->place->kind == PLACE_LOOSE; }

/* Whether no process outside can have a name of it. The path alone does not prove that: an open
 * file that was removed or moved keeps the host's other names. */
int is_private(const struct spot *s) {
  return s->place && s->place->kind == PLACE_FREE && s->place->mount && s->place->mount == s->mount;
}

static int is_below(const struct broker_place *p, const struct broker_place *above) {
  return p->length > above->length && !strncmp(p->path, above->path, above->length) &&
         p->path[above->length] == '/';
}

/* Whether the rules need no writable place. */
int broker_is_safe_alone(void) {
  for (size_t i = 0; i < place_count; i++)
    if (places[i].kind == PLACE_FREE) return 0;
  return 1;
}

/* A Landlock right covers everything below, including mounts, so none of that may belong to the
 * broker. */
static int has_root_below(const struct broker_place *place) {
  for (size_t i = 0; i < place_count; i++)
    if (places[i].kind != PLACE_FREE && is_below(&places[i], place)) return 1;
  return 0;
}

/* The innermost place that contains a path; NULL outside all places, where changes are refused. */
const struct broker_place *place_of(const char *path) {
  const struct broker_place *best = NULL;
  for (size_t i = 0; i < place_count; i++) {
    const struct broker_place *p = &places[i];
    if (best && best->length > p->length) continue;
    if (!strncmp(path, p->path, p->length) && (path[p->length] == 0 || path[p->length] == '/')) best = p;
  }
  return best;
}

const struct broker_place *any_root(void) {
  for (size_t i = 0; i < place_count; i++)
    if (places[i].kind == PLACE_ROOT) return &places[i];
  return NULL;
}

/* Whether each root is still at the host's path. A command whose root contains another's can move
 * it; inside, the root keeps its path, and rules match by path. */
int are_roots_in_place(void) {
  char path[PATH_MAX];
  for (size_t i = 0; i < place_count; i++) {
    if (places[i].kind != PLACE_ROOT || places[i].host < 0) continue;
    path_of_fd(places[i].host, path);
    if (strcmp(path, places[i].path)) return 0;
  }
  return 1;
}

/* Opens the roots and the folder for kept files by the host's mounts, before anything is mounted
 * over them. */
int broker_prepare(int host) {
  broker_sort_fixed();
  if (host < 0) return open_keep(AT_FDCWD);
  for (size_t i = 0; i < place_count; i++)
    if (places[i].kind == PLACE_ROOT)
      places[i].host = openat(host, places[i].path + 1, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  return open_keep(host);
}

static int allow_beneath(int ruleset, const char *path, uint64_t rights) {
  struct stat about;
  int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT || errno == EACCES ? 0 : -1; /* a missing place needs no right */
  struct landlock_path_beneath_attr beneath = {.allowed_access = rights, .parent_fd = fd};
  int bad = fstat(fd, &about) != 0;
  if (!bad && !S_ISDIR(about.st_mode)) beneath.allowed_access &= FILE_RIGHTS;
  bad = bad || syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
  close(fd);
  return bad ? -1 : 0;
}

/* Runs in the command's process: from here on it may write only in the free places. */
int broker_wall(void) {
  if (bare_is_on()) return bare_wall();
  long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 0) return -1;
  if (version < 2) { /* before version 2 no file could be renamed between folders, even in /tmp */
    errno = ENOSYS;
    return -1;
  }
  struct landlock_ruleset_attr attr = {.handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE | FOLDER_RIGHTS};
  if (version >= 3) attr.handled_access_fs |= LANDLOCK_ACCESS_FS_TRUNCATE;
  int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
  if (ruleset < 0) return -1;
  for (size_t i = 0; i < place_count; i++)
    if (places[i].kind == PLACE_FREE && has_root_below(&places[i])) {
      errno = EINVAL;
      return -1;
    }
  for (size_t i = 0; i < place_count; i++)
    if (places[i].kind == PLACE_FREE && allow_beneath(ruleset, places[i].path, attr.handled_access_fs))
      return -1;
  if (syscall(SYS_landlock_restrict_self, ruleset, 0)) return -1;
  close(ruleset);
  return 0;
}

/* Sends the listener: without namespaces the other side may not be allowed to take it. */
static int send_listener(int report, int listener) {
  union { struct cmsghdr header; char space[CMSG_SPACE(sizeof(int))]; } rights;
  memset(&rights, 0, sizeof rights);
  char word = 'l';
  struct iovec text = {.iov_base = &word, .iov_len = 1};
  struct msghdr packet = {
      .msg_iov = &text, .msg_iovlen = 1, .msg_control = rights.space, .msg_controllen = sizeof rights.space};
  rights.header.cmsg_level = SOL_SOCKET;
  rights.header.cmsg_type = SCM_RIGHTS;
  rights.header.cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(&rights.header), &listener, sizeof(int));
  return sendmsg(report, &packet, MSG_NOSIGNAL) == 1;
}

/* Shows the number of the listener: a sent message would be stopped by the filter, so the other
 * side takes it with pidfd_getfd(). */
static int show_listener(int report, int listener) {
  char taken;
  return write(report, &listener, sizeof listener) == sizeof listener && read(report, &taken, 1) == 1;
}

/* Runs in the command's process: loads the filter, and hands its listener to the other side of a
 * socket. */
int broker_listen(const void *filter, int report) {
  /* Only a deadly signal interrupts a waiting call: a change happens once, and its result is
   * reported. */
  int listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                              SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
                              filter);
  if (listener < 0) return -1;
  int given = (bare_is_on() ? send_listener : show_listener)(report, listener);
  close(listener);
  return given ? 0 : -1;
}

static mode_t common_umask, own_umask;
static int umask_varies;
static struct { pid_t tid; int status; } statuses[16];

/* While every process has the initial umask, none is looked up. */
void note_umask(unsigned mask) {
  if ((mask & 0777) != common_umask) umask_varies = 1;
}

static int read_umask(int status, mode_t *mask) {
  char text[512];
  unsigned found;
  ssize_t n = pread(status, text, sizeof text - 1, 0);
  if (n <= 0) return -1;
  text[n] = 0;
  char *line = strstr(text, "\nUmask:");
  if (!line || sscanf(line, "\nUmask: %o", &found) != 1) return -1;
  *mask = (mode_t)found;
  return 0;
}

/* An open /proc/PID/status belongs to one process, so a reused pid is not mistaken for it. */
mode_t umask_of(pid_t tid) {
  mode_t mask = common_umask;
  size_t at = (size_t)tid % (sizeof statuses / sizeof *statuses);
  char path[48];
  if (!umask_varies) return mask;
  if (statuses[at].tid == tid && statuses[at].status >= 0 && read_umask(statuses[at].status, &mask) == 0)
    return mask;
  if (statuses[at].tid && statuses[at].status >= 0) close(statuses[at].status);
  snprintf(path, sizeof path, "/proc/%d/status", tid);
  statuses[at].tid = tid;
  statuses[at].status = open(path, O_RDONLY | O_CLOEXEC);
  if (statuses[at].status >= 0) (void)read_umask(statuses[at].status, &mask);
  return mask;
}

void use_umask(mode_t mask) {
  if (mask != own_umask) umask(mask);
  own_umask = mask;
}

static void respond(const struct call *c, int error, uint32_t flags) {
  struct seccomp_notif_resp response = {.id = c->id, .error = -error, .flags = flags};
  /* A killed caller needs no answer. */
  (void)ioctl(c->listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

void answer(const struct call *c, int error) { respond(c, error, 0); }

void answer_with(const struct call *c, int64_t result) {
  struct seccomp_notif_resp response = {.id = c->id, .val = result};
  if (result < 0) return answer(c, (int)-result);
  (void)ioctl(c->listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

/* Continues the call in the kernel, in the caller's domain: Landlock refuses changes in the roots,
 * whatever the path says by then. */
void let_go_on(const struct call *c) {
  if (bare_is_on() && !bare_may_go_on(c)) answer(c, EACCES);
  else respond(c, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
}

/* Leaves a change outside the places to a read-only mount or to Landlock. */
void leave_outside(const struct call *c, const struct spot *s) {
  if (bare_is_on() && bare_shows(s->path)) answer(c, EROFS);
  else let_go_on(c);
}

void answer_or_go_on(const struct call *c, int error) {
  if (error) answer(c, error);
  else let_go_on(c);
}

/* Answers for a path that does not resolve, with errno. A missing file is reported at once: another
 * thread may create it, and then Landlock would refuse the continued call. */
void not_found(const struct call *c) {
  if (errno == ENOENT) answer(c, ENOENT);
  else let_go_on(c);
}

/* Passes a descriptor to the caller. A file that is open for writing cannot be run, so this process
 * closes it before the caller continues. */
void hand_in(const struct call *c, int fd, int flags) {
  int is_written = (flags & O_ACCMODE) != O_RDONLY;
  struct seccomp_notif_addfd give = {.id = c->id,
                                     .flags = is_written ? 0 : SECCOMP_ADDFD_FLAG_SEND,
                                     .srcfd = (uint32_t)fd,
                                     .newfd_flags = flags & O_CLOEXEC};
  int given = ioctl(c->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &give);
  int error = errno;
  close(fd);
  if (given < 0 && error != ENOENT) answer(c, error);
  struct seccomp_notif_resp response = {.id = c->id, .val = given};
  if (given >= 0 && is_written) (void)ioctl(c->listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

static int only_reads(int flags) {
  return !(flags & (O_PATH | O_CREAT | O_TRUNC)) && (flags & O_ACCMODE) == O_RDONLY;
}

/* Answers calls without namespaces that change nothing in the roots. 0 if the call is an ordinary
 * one. */
static int dispatch_bare(const struct call *c) {
  const uint64_t *a = c->args;
  int first = (int)a[0];
  switch (c->number) {
  case SYS_openat:
    if (!only_reads((int)a[2])) return 0;
    bare_open(c, first, a[1], (int)a[2]);
    return 1;
  case SYS_clone: bare_fork(c); return 1;
  case SYS_kill:
  case SYS_tkill:
  case SYS_tgkill:
  case SYS_rt_sigqueueinfo:
  case SYS_rt_tgsigqueueinfo:
  case SYS_pidfd_send_signal: bare_signal(c); return 1;
#ifdef SYS_open
  case SYS_open:
    if (!only_reads((int)a[1])) return 0;
    bare_open(c, AT_FDCWD, a[0], (int)a[1]);
    return 1;
  case SYS_fork:
  case SYS_vfork: bare_fork(c); return 1;
#endif
  default: return 0;
  }
}

static void dispatch(const struct call *c) {
  const uint64_t *a = c->args;
  int nr = c->number;
  int first = (int)a[0], third = (int)a[2];
  /* A recorded call without changes continues; the rules are the same. */
  if (learn_is_on() && learn_call(c, nr)) return let_go_on(c);
  switch (nr) {
  case SYS_openat: answer_open(c, first, a[1], third, (mode_t)a[3]); return;
  case SYS_mkdirat: answer_make(c, first, a[1], S_IFDIR | ((mode_t)a[2] & 07777), 0); return;
  case SYS_mknodat:
    answer_make(c, first, a[1], (mode_t)a[2] & S_IFMT ? (mode_t)a[2] : (mode_t)a[2] | S_IFREG, (dev_t)a[3]);
    return;
  case SYS_symlinkat: answer_symlink(c, a[0], (int)a[1], a[2]); return;
  case SYS_linkat: answer_link(c, first, a[1], third, a[3], (int)a[4]); return;
  case SYS_unlinkat: answer_remove(c, first, a[1], third); return;
  case SYS_renameat2: answer_rename(c, first, a[1], third, a[3], (unsigned)a[4]); return;
#ifdef SYS_renameat
  case SYS_renameat: answer_rename(c, first, a[1], third, a[3], 0); return;
#endif
  case SYS_truncate: answer_truncate(c, a[0], (off_t)a[1]); return;
  case SYS_umask: note_umask((unsigned)a[0]); let_go_on(c); return;
  case SYS_fchmod: answer_mode_of(c, first, (mode_t)a[1]); return;
  case SYS_connect:
    (bare_is_on() ? bare_connect : answer_socket_connect)(c, first, a[1], (uint32_t)a[2]);
    return;
  case SYS_bind: (bare_is_on() ? bare_bind : answer_bind)(c, first, a[1], (uint32_t)a[2]); return;
  case SYS_listen: (bare_is_on() ? bare_listen : answer_listen)(c, first, (int)a[1]); return;
  case SYS_socket:
  case SYS_socketpair: answer_datagram_socket(c); return;
  case SYS_sendto: answer_send(c, first, a[1], a[2], (int)a[3], a[4], (uint32_t)a[5]); return;
  case SYS_sendmsg: answer_send_message(c, first, a[1], third); return;
  case SYS_sendmmsg: answer_send_messages(c, first, a[1], (unsigned)a[2], (int)a[3]); return;
  case SYS_fchmodat: answer_mode(c, first, a[1], (mode_t)a[2], 0); return;
  /* fchmodat2, newer than some headers */
  case 452: answer_mode(c, first, a[1], (mode_t)a[2], (int)a[3]); return;
  case SYS_fchown: answer_owner_of(c, first, (uid_t)a[1], (gid_t)a[2]); return;
  case SYS_fchownat: answer_owner(c, first, a[1], (uid_t)a[2], (gid_t)a[3], (int)a[4]); return;
  case SYS_utimensat: answer_times(c, first, a[1], a[2], TIME_NANOSECONDS, (int)a[3]); return;
  case SYS_setxattr: answer_attribute(c, a, ATTRIBUTE_SET, 0); return;
  case SYS_lsetxattr: answer_attribute(c, a, ATTRIBUTE_SET, AT_SYMLINK_NOFOLLOW); return;
  case SYS_fsetxattr: answer_attribute(c, a, ATTRIBUTE_SET, -1); return;
  case SYS_removexattr: answer_attribute(c, a, ATTRIBUTE_REMOVE, 0); return;
  case SYS_lremovexattr: answer_attribute(c, a, ATTRIBUTE_REMOVE, AT_SYMLINK_NOFOLLOW); return;
  case SYS_fremovexattr: answer_attribute(c, a, ATTRIBUTE_REMOVE, -1); return;
#ifdef SYS_open /* the calls without a directory: only the older architecture has them */
  case SYS_open: answer_open(c, AT_FDCWD, a[0], (int)a[1], (mode_t)a[2]); return;
  case SYS_creat: answer_open(c, AT_FDCWD, a[0], O_CREAT | O_WRONLY | O_TRUNC, (mode_t)a[1]); return;
  case SYS_mkdir: answer_make(c, AT_FDCWD, a[0], S_IFDIR | ((mode_t)a[1] & 07777), 0); return;
  case SYS_mknod:
    answer_make(c, AT_FDCWD, a[0], (mode_t)a[1] & S_IFMT ? (mode_t)a[1] : (mode_t)a[1] | S_IFREG,
                (dev_t)a[2]);
    return;
  case SYS_symlink: answer_symlink(c, a[0], AT_FDCWD, a[1]); return;
  case SYS_link: answer_link(c, AT_FDCWD, a[0], AT_FDCWD, a[1], 0); return;
  case SYS_unlink: answer_remove(c, AT_FDCWD, a[0], 0); return;
  case SYS_rmdir: answer_remove(c, AT_FDCWD, a[0], AT_REMOVEDIR); return;
  case SYS_rename: answer_rename(c, AT_FDCWD, a[0], AT_FDCWD, a[1], 0); return;
  case SYS_chmod: answer_mode(c, AT_FDCWD, a[0], (mode_t)a[1], 0); return;
  case SYS_chown: answer_owner(c, AT_FDCWD, a[0], (uid_t)a[1], (gid_t)a[2], 0); return;
  case SYS_lchown: answer_owner(c, AT_FDCWD, a[0], (uid_t)a[1], (gid_t)a[2], AT_SYMLINK_NOFOLLOW); return;
  case SYS_utime: answer_times(c, AT_FDCWD, a[0], a[1], TIME_SECONDS, 0); return;
  case SYS_utimes: answer_times(c, AT_FDCWD, a[0], a[1], TIME_MICROSECONDS, 0); return;
  case SYS_futimesat: answer_times(c, first, a[1], a[2], TIME_MICROSECONDS, 0); return;
#endif
  default: answer(c, ENOSYS); /* test/contract checks that the filter and this table agree */
  }
}

static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER;
static int listener = -1;

/* Whether every possible caller is gone: newer kernels then return POLLHUP each time. */
static int is_deserted(void) {
  struct pollfd left = {.fd = listener};
  return poll(&left, 1, 0) > 0 && (left.revents & POLLHUP);
}

/* Calls that would block: opening a FIFO without a reader, or a leased file. */
static struct waiting {
  struct call call;
  uint64_t args[6];
} waiting[MAX_WAITING];
static size_t waiting_count;

/* Answers the call again later: this process must not block. */
void try_later(const struct call *c) {
  if (waiting_count == MAX_WAITING) return answer(c, EMFILE);
  struct waiting *w = &waiting[waiting_count++];
  w->call = *c;
  memcpy(w->args, c->args, sizeof w->args);
}

static void answer_one(const struct call *c) {
  pthread_mutex_lock(&busy);
  if (!bare_is_on() || !dispatch_bare(c)) {
    int error = lock_roots();
    if (error) answer(c, error);
    else dispatch(c);
    unlock_roots();
  }
  pthread_mutex_unlock(&busy);
}

static void retry_waiting(void) {
  for (size_t left = waiting_count; left > 0; left--) {
    struct waiting w = waiting[0];
    memmove(waiting, waiting + 1, --waiting_count * sizeof *waiting);
    w.call.args = w.args;
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &w.call.id) == 0) answer_one(&w.call);
  }
}

/* Returns 0 if no more calls can come. */
static int answer_next(void) {
  static union { struct seccomp_notif notice; char capacity[1024]; } buffer; /* a newer kernel may say more */
  memset(&buffer, 0, sizeof buffer);
  /* otherwise interrupted, or this caller is gone */
  if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &buffer)) return !is_deserted();
  uint64_t args[6];
  for (int i = 0; i < 6; i++) args[i] = buffer.notice.data.args[i];
  const struct call c = {.listener = listener,
                         .id = buffer.notice.id,
                         .tid = (pid_t)buffer.notice.pid,
                         .number = buffer.notice.data.nr,
                         .args = args};
  note_caller(c.tid);
  if (programs_is_on() && is_start(c.number)) {
    if (learn_is_on()) (void)learn_call(&c, c.number);
    answer_start(&c);
  } else if (!continue_send(&c)) answer_one(&c);
  return 1;
}

static void *attend_broker(void *unused) {
  (void)unused;
  for (;;) {
    struct pollfd wait[] = {{.fd = listener, .events = POLLIN}, {.fd = programs_wait_fd(), .events = POLLIN}};
    int waits = waiting_count > 0 || programs_is_on();
    if (waits && poll(wait, 2, waiting_count > 0 ? RETRY_MS : -1) <= 0) wait[0].revents = wait[1].revents = 0;
    retry_waiting();
    if (wait[1].revents) answer_decided();
    if ((!waits || wait[0].revents) && !answer_next()) break;
  }
  return NULL;
}

/* Receives the listener, or a failure instead of it. */
static int take_listener(int report, pid_t command, uint32_t failure[3]) {
  union { struct cmsghdr header; char space[CMSG_SPACE(sizeof(int))]; } rights;
  int fd = -1;
  struct iovec text = {.iov_base = failure, .iov_len = 3 * sizeof *failure};
  struct msghdr packet = {
      .msg_iov = &text, .msg_iovlen = 1, .msg_control = rights.space, .msg_controllen = sizeof rights.space};
  ssize_t n;
  memset(failure, 0, 3 * sizeof *failure);
  do n = recvmsg(report, &packet, MSG_CMSG_CLOEXEC);
  while (n < 0 && errno == EINTR);
  if (n == (ssize_t)(3 * sizeof *failure)) return -1;
  int number = (int)failure[0];
  failure[0] = 0;
  if (n == 0) errno = EPIPE;
  if (n == (ssize_t)sizeof(int)) {
    int process = (int)syscall(SYS_pidfd_open, command, 0);
    fd = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, (int)number, 0);
    int error = errno;
    if (process >= 0) close(process);
    if (fd >= 0 && write(report, "t", 1) != 1) close(fd), fd = -1;
    errno = error;
    return fd;
  }
  struct cmsghdr *found = n == 1 ? CMSG_FIRSTHDR(&packet) : NULL;
  if (found && found->cmsg_level == SOL_SOCKET && found->cmsg_type == SCM_RIGHTS)
    memcpy(&fd, CMSG_DATA(found), sizeof fd);
  return fd;
}

/* Receives the listener and answers in its own thread from now on. -1: `failure` has a step, or
 * errno is set. */
int broker_serve(int report, pid_t command, uint32_t failure[3]) {
  struct seccomp_notif_sizes sizes;
  pthread_t thread;
  listener = take_listener(report, command, failure);
  if (listener < 0) return -1;
  if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes)) return -1;
  if (sizes.seccomp_notif > 1024 || sizes.seccomp_notif_resp != sizeof(struct seccomp_notif_resp)) {
    errno = E2BIG;
    return -1;
  }
  /* Newer kernels wake the other side at once, on the same processor. */
  (void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
  for (size_t i = 0; i < place_count; i++) {
    struct stat about;
    if (look_by_name(AT_FDCWD, places[i].path, AT_SYMLINK_NOFOLLOW, &about, &places[i].mount))
      places[i].mount = 0;
  }
  common_umask = own_umask = umask(0);
  umask(own_umask);
  if (programs_is_on() && programs_open()) return -1;
  errno = pthread_create(&thread, NULL, attend_broker, NULL);
  return errno ? -1 : 0;
}

/* Finishes the current change after all processes are dead. A file system that does not answer must
 * not keep the sandbox alive; a journal without an end belongs to a killed command. */
void broker_shut(void) {
  struct timespec latest;
  if (!broker_is_on()) return;
  clock_gettime(CLOCK_REALTIME, &latest);
  latest.tv_sec += SHUT_SECONDS;
  if (pthread_mutex_timedlock(&busy, &latest) == 0) journal_end();
}
