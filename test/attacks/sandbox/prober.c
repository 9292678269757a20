/*
 * Makes one system call from inside and prints what the kernel answered: "ok" or the number of the error.
 * Every call has arguments that do nothing where it is allowed, so that controls are harmless.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

struct call {
  const char *name;
  long number;
  long arguments[6];
};

#define NONE ((long)"/nonexistent/cordon")

static const struct call calls[] = {
    {"ptrace", SYS_ptrace, {16, -1}},
    {"process_madvise", SYS_process_madvise, {-1}},
    {"kcmp", SYS_kcmp, {-1, -1}},
    {"bpf", SYS_bpf, {-1, 0, 0}},
    {"perf_event_open", SYS_perf_event_open, {0}},
    {"userfaultfd", SYS_userfaultfd, {0x7fff0000}},
    {"add_key", SYS_add_key, {0}},
    {"request_key", SYS_request_key, {0}},
    {"keyctl", SYS_keyctl, {KEYCTL_GET_KEYRING_ID, -1, 0}},
    {"io_uring_setup", 425, {1, 0}},
    {"io_uring_enter", 426, {-1}},
    {"io_uring_register", 427, {-1}},
    {"clone3", 435, {0, 0}},
    {"mount", SYS_mount, {0}},
    {"umount2", SYS_umount2, {NONE, 0}},
    {"pivot_root", SYS_pivot_root, {NONE, NONE}},
    {"chroot", SYS_chroot, {NONE}},
    {"open_tree", 428, {-1, NONE + 1, 0}},
    {"open_tree_attr", 467, {-1, NONE + 1, 0, 0, 0}},
    {"move_mount", 429, {-1, NONE + 1, -1, NONE + 1, 0}},
    {"fsopen", 430, {NONE, 0}},
    {"fsconfig", 431, {-1, 0, 0, 0, 0}},
    {"fsmount", 432, {-1, 0, 0}},
    {"fspick", 433, {-1, NONE + 1, 0}},
    {"mount_setattr", 442, {-1, NONE + 1, 0, 0, 0}},
    {"statmount", 457, {0}},
    {"listmount", 458, {0}},
    {"openat2", 437, {-1, NONE + 1, 0, 0}},
    {"setxattrat", 463, {-1, NONE + 1, 0, 0, 0, 0}},
    {"removexattrat", 466, {-1, NONE + 1, 0, 0}},
    {"file_setattr", 469, {-1, NONE + 1, 0, 0, 0}},
    {"setns", SYS_setns, {-1, 0}},
    {"name_to_handle_at", SYS_name_to_handle_at, {-1, NONE + 1, 0, 0, 0}},
    {"open_by_handle_at", SYS_open_by_handle_at, {-1, 0, 0}},
    {"fanotify_init", SYS_fanotify_init, {-1, 0}},
    {"kexec_load", SYS_kexec_load, {0, 100000, 0, 0}},
    {"kexec_file_load", SYS_kexec_file_load, {-1, -1, 0, 0, 0xffff}},
    {"init_module", SYS_init_module, {0, 0, 0}},
    {"finit_module", SYS_finit_module, {-1, 0, 0}},
    {"delete_module", SYS_delete_module, {0, 0}},
    {"reboot", SYS_reboot, {0, 0, 0, 0}},
    {"swapon", SYS_swapon, {0, 0}},
    {"swapoff", SYS_swapoff, {0}},
    {"acct", SYS_acct, {NONE}},
    {"quotactl", SYS_quotactl, {-1, 0, 0, 0}},
    {"quotactl_fd", 443, {-1, 0, 0, 0}},
    {"settimeofday", SYS_settimeofday, {0, 0}},
    {"clock_settime", SYS_clock_settime, {-1, 0}},
    {"clock_adjtime", SYS_clock_adjtime, {-1, 0}},
    {"adjtimex", SYS_adjtimex, {0}},
    {"sethostname", SYS_sethostname, {0, 100000}},
    {"setdomainname", SYS_setdomainname, {0, 100000}},
    {"vhangup", SYS_vhangup, {0}},
    {"syslog", SYS_syslog, {10, 0, 0}},
    {"migrate_pages", SYS_migrate_pages, {0, 0, 0, 0}},
    {"move_pages", SYS_move_pages, {0, 0, 0, 0, 0, 0}},
    {"memfd_secret", 447, {0x7fff0000}},
#ifdef __x86_64__
    {"iopl", SYS_iopl, {99}},
    {"ioperm", SYS_ioperm, {0, 0, 0}},
    {"modify_ldt", SYS_modify_ldt, {0, 0, 0}},
    {"ustat", SYS_ustat, {0, 0}},
    {"sysfs", SYS_sysfs, {99}},
#endif
};

static int say(long result) {
  if (result < 0) printf("%d\n", errno);
  else printf("ok\n");
  return 0;
}

static int usage(void) {
  fprintf(stderr, "prober: unknown probe\n");
  return 2;
}

static int probe_call(const char *name) {
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    const long *a = calls[i].arguments;
    if (!strcmp(calls[i].name, name)) return say(syscall(calls[i].number, a[0], a[1], a[2], a[3], a[4], a[5]));
  }
  char from[4] = "abc", to[4] = "";
  struct iovec here = {to, 4}, there = {from, 4};
  if (!strcmp(name, "process_vm_readv")) return say(syscall(SYS_process_vm_readv, getpid(), &here, 1L, &there, 1L, 0L));
  if (!strcmp(name, "process_vm_writev")) return say(syscall(SYS_process_vm_writev, getpid(), &here, 1L, &there, 1L, 0L));
  if (!strcmp(name, "pidfd_getfd")) return say(syscall(SYS_pidfd_getfd, syscall(SYS_pidfd_open, getpid(), 0), 0, 0));
  return usage();
}

static int probe_clone(unsigned long flags) {
  long pid = syscall(SYS_clone, flags | SIGCHLD, 0L, 0L, 0L, 0L);
  if (pid == 0) _exit(0);
  int error = errno;
  if (pid > 0) waitpid((pid_t)pid, NULL, 0);
  errno = error;
  return say(pid);
}

/* In a child: a namespace that was entered must not be kept. */
static int probe_unshare(unsigned long flags) {
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) _exit(unshare((int)flags) ? errno : 0);
  int status;
  waitpid(pid, &status, 0);
  if (WEXITSTATUS(status) == 0) return say(0);
  errno = WEXITSTATUS(status);
  return say(-1);
}

static int probe_connect(int type, const char *path, int abstract) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int fd = socket(AF_UNIX, type, 0);
  if (fd < 0) return say(-1);
  snprintf(address.sun_path + abstract, sizeof address.sun_path - (size_t)abstract, "%s", path);
  socklen_t length = (socklen_t)(sizeof(sa_family_t) + (size_t)abstract + strlen(path) + (abstract ? 0 : 1));
  return say(connect(fd, (struct sockaddr *)&address, length));
}

/* A datagram pair is a unix socket by another broker: sendto takes any address. */
static int probe_pair_sendto(int type, const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int pair[2];
  if (socketpair(AF_UNIX, type, 0, pair)) return say(-1);
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  return say(sendto(pair[0], "x", 1, 0, (struct sockaddr *)&address, sizeof address));
}

static int probe_core(int via_prlimit) {
  struct rlimit zero = {0, 1}, now;
  long result = via_prlimit ? syscall(SYS_prlimit64, 0, RLIMIT_CORE, &zero, 0) : syscall(SYS_setrlimit, RLIMIT_CORE, &zero);
  if (result < 0) return say(-1);
  getrlimit(RLIMIT_CORE, &now);
  errno = EPERM;
  return say(now.rlim_cur != 1 ? 0 : -1); /* whatever else it is: dumps are on, or start the host's handler */
}

static int probe_foreign(void) {
#ifdef __x86_64__
  long result;
  fflush(stdout);
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory"); /* getpid of i386 */
  if (result <= 0) errno = ENOSYS;
  return say(result > 0 ? 0 : -1);
#else
  errno = ENOSYS;
  return say(-1);
#endif
}

static int probe_memory(size_t megabytes) {
  for (size_t i = 0; i < megabytes; i++) {
    char *block = malloc(1 << 20);
    if (!block) return say(-1);
    memset(block, 1, 1 << 20);
  }
  return say(0);
}

static int probe_forks(int wanted) {
  int made = 0;
  for (; made < wanted; made++) {
    pid_t pid = fork();
    if (pid < 0) break;
    if (pid == 0) {
      pause();
      _exit(0);
    }
  }
  printf("%d\n", made);
  fflush(stdout);
  signal(SIGTERM, SIG_IGN);
  kill(0, SIGTERM);
  return 0;
}

static void bind_socket(int type, const char *name, int abstract) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int fd = socket(AF_UNIX, type, 0);
  snprintf(address.sun_path + abstract, sizeof address.sun_path - (size_t)abstract, "%s", name);
  socklen_t length = (socklen_t)(sizeof(sa_family_t) + (size_t)abstract + strlen(name) + (abstract ? 0 : 1));
  if (fd < 0 || bind(fd, (struct sockaddr *)&address, length)) exit(3);
  if (type == SOCK_STREAM && listen(fd, 16)) exit(3);
}

static int segment = -1;

static void stop(int signal_number) {
  (void)signal_number;
  shmctl(segment, IPC_RMID, NULL);
  _exit(0);
}

/* Plays the services of a host: two sockets in a folder, an abstract one, and a shared memory segment. */
static int serve(const char *folder, const char *abstract, key_t key) {
  char path[100];
  snprintf(path, sizeof path, "%s/stream", folder);
  bind_socket(SOCK_STREAM, path, 0);
  snprintf(path, sizeof path, "%s/datagram", folder);
  bind_socket(SOCK_DGRAM, path, 0);
  bind_socket(SOCK_STREAM, abstract, 1);
  segment = shmget(key, 4096, IPC_CREAT | IPC_EXCL | 0600);
  if (segment < 0) return 3;
  signal(SIGTERM, stop);
  printf("ready\n");
  fflush(stdout);
  for (;;) pause();
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  unsigned long a = argc > 2 ? strtoul(argv[2], NULL, 0) : 0, b = argc > 3 ? strtoul(argv[3], NULL, 0) : 0,
                c = argc > 4 ? strtoul(argv[4], NULL, 0) : 0;
  if (!strcmp(what, "call") && argc > 2) return probe_call(argv[2]);
  if (!strcmp(what, "raw")) return say(syscall((long)a, -1L, 0L, 0L, 0L, 0L, 0L));
  if (!strcmp(what, "clone")) return probe_clone(a);
  if (!strcmp(what, "unshare")) return probe_unshare(a);
  if (!strcmp(what, "socket")) return say(socket((int)a, (int)b, (int)c));
  if (!strcmp(what, "socket-high")) return say(syscall(SYS_socket, a | 1UL << 32, b, c));
  if (!strcmp(what, "pair")) {
    int pair[2];
    return say(socketpair((int)a, (int)b, 0, pair));
  }
  if (!strcmp(what, "connect") && argc > 3) return probe_connect((int)a, argv[3], 0);
  if (!strcmp(what, "connect-abstract") && argc > 3) return probe_connect((int)a, argv[3], 1);
  if (!strcmp(what, "pair-sendto") && argc > 3) return probe_pair_sendto((int)a, argv[3]);
  if (!strcmp(what, "ioctl")) { /* request, on the controlling terminal; a harmless argument */
    int fd = open("/dev/tty", O_RDWR | O_NOCTTY);
    char x = argc > 3 ? (char)b : ' ';
    return say(fd < 0 ? -1 : syscall(SYS_ioctl, fd, a, &x));
  }
  if (!strcmp(what, "ioctl-fd")) {
    char x = 0;
    return say(syscall(SYS_ioctl, 0, a, &x));
  }
  if (!strcmp(what, "file-flags")) { /* on fd 0: FS_IOC_GETFLAGS, then FS_IOC_SETFLAGS with `nodump` as well */
    long flags = 0;
    return say(syscall(SYS_ioctl, 0, 0x80086601UL, &flags) ? -1 : (flags |= 0x40, syscall(SYS_ioctl, 0, 0x40086602UL, &flags)));
  }
  if (!strcmp(what, "personality")) return say(syscall(SYS_personality, a));
  if (!strcmp(what, "core")) return probe_core((int)a);
  if (!strcmp(what, "foreign")) return probe_foreign();
  if (!strcmp(what, "exchange") && argc > 3) return say(syscall(SYS_renameat2, AT_FDCWD, argv[2], AT_FDCWD, argv[3], 2));
  if (!strcmp(what, "serve") && argc > 4) return serve(argv[2], argv[3], (key_t)c);
  if (!strcmp(what, "setuid-file") && argc > 3) { /* broker, path */
    const char *broker = argv[2], *path = argv[3];
    struct stat about;
    unlink(path);
    long result = -1;
    if (!strcmp(broker, "open")) result = open(path, O_CREAT | O_WRONLY, 04755);
    if (!strcmp(broker, "mknod")) result = mknod(path, S_IFREG | 04755, 0);
    if (!strcmp(broker, "fchmodat2") && close(creat(path, 0755)) == 0) result = syscall(452, AT_FDCWD, path, 04755, 0);
    if (!strcmp(broker, "openat2")) {
      struct { unsigned long long flags, mode, resolve; } how = {O_CREAT | O_WRONLY, 04755, 0};
      result = syscall(437, AT_FDCWD, path, &how, sizeof how);
    }
    if (!strcmp(broker, "tmpfile")) {
      char link[64];
      int fd = open(".", O_TMPFILE | O_WRONLY, 04755);
      snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
      result = fd < 0 ? -1 : linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
    }
    if (result >= 0 && stat(path, &about) == 0 && !(about.st_mode & S_ISUID)) result = -1;
    return say(result);
  }
  if (!strcmp(what, "reconnect")) { /* stdin, if it is an internet socket, to this port of 127.0.0.1 */
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    struct sockaddr_in other = {.sin_family = AF_INET, .sin_port = htons((uint16_t)a), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int flags = fcntl(0, F_GETFL);
    if (flags >= 0) fcntl(0, F_SETFL, flags & ~O_NONBLOCK);
    connect(0, &none, sizeof none);
    return say(connect(0, (struct sockaddr *)&other, sizeof other));
  }
  if (!strcmp(what, "shm")) return say(shmget((key_t)a, 1, 0));
  if (!strcmp(what, "open-write") && argc > 2) return say(open(argv[2], O_WRONLY));
  if (!strcmp(what, "open-read") && argc > 2) return say(open(argv[2], O_RDONLY | O_NONBLOCK));
  if (!strcmp(what, "kill")) return say(kill((pid_t)a, 0));
  if (!strcmp(what, "memory")) return probe_memory(a);
  if (!strcmp(what, "forks")) return probe_forks((int)a);
  if (!strcmp(what, "setuid")) return say(setuid((uid_t)a));
  return usage();
}
