/* Drops what the command must not have: other pid numbers, mounts, capabilities, higher limits. */
#define _GNU_SOURCE
#include "init.h"
#include "../bare/bare.h"
#include "../broker/broker.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

void write_at(int dir, const char *name, const char *text, enum step step) {
  int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text)) fail(step);
  close(fd);
}

/* Only if the limit belongs to the pid namespace: before Linux 6.14 root would change the host's. */
void limit_process_numbers(int proc) {
  struct utsname kernel;
  int major = 0, minor = 0;
  char text[16];
  if (uname(&kernel)) fail(STEP_LIMITS);
  if (sscanf(kernel.release, "%d.%d", &major, &minor) != 2 || major < 6 || (major == 6 && minor < 14)) {
    errno = ENOTSUP;
    fail(STEP_LIMITS);
  }
  snprintf(text, sizeof text, "%u", setup.process_numbers);
  write_at(proc, "sys/kernel/pid_max", text, STEP_LIMITS);
}

/* The kernel counts watches for all programs of a user: half remain for their editor. Kernels
 * without the namespace's file are left alone. */
static void limit_watches(int proc, const char *of_machine, const char *of_namespace) {
  char text[32];
  int from = openat(proc, of_machine, O_RDONLY | O_CLOEXEC),
      to = openat(proc, of_namespace, O_WRONLY | O_CLOEXEC);
  ssize_t n = from < 0 || to < 0 ? -1 : read(from, text, sizeof text - 1);
  if (n > 0) {
    text[n] = 0;
    n = snprintf(text, sizeof text, "%lu", strtoul(text, NULL, 10) / 2);
    if (write(to, text, (size_t)n) != n) fail(STEP_LIMITS);
  }
  if (from >= 0) close(from);
  if (to >= 0) close(to);
}

/* Creates the second user namespace. There the command has its uid again, but no rights over the
 * mounts, which belong to the first: even a process that regains capabilities cannot unmount a
 * mask. */
void leave_mount_owner(int proc) {
  char map[32];
  /* One more namespace may be created below this one: ours. The limit is the owner's, so nothing
   * further down raises it. */
  write_at(proc, "sys/user/max_user_namespaces", "1", STEP_NESTING);
  if (unshare(CLONE_NEWUSER)) fail(STEP_USERNS);
  snprintf(map, sizeof map, "%u 0 1", setup.uid);
  write_at(proc, "self/uid_map", map, STEP_IDS);
  snprintf(map, sizeof map, "%u 0 1", setup.gid);
  write_at(proc, "self/gid_map", map, STEP_IDS);
  write_at(proc, "sys/user/max_user_namespaces", "0", STEP_NESTING);
  limit_watches(proc, "sys/fs/inotify/max_user_watches", "sys/user/max_inotify_watches");
  limit_watches(proc, "sys/fs/inotify/max_user_instances", "sys/user/max_inotify_instances");
  if (getuid() != setup.uid || geteuid() != setup.uid || getgid() != setup.gid) {
    errno = EPERM;
    fail(STEP_IDS);
  }
}

/* With the broker, this process reads the memory of all the command's processes, dumpable or not. */
void keep_capability(int cap, int keeps) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct wanted[2], now[2];
  memset(wanted, 0, sizeof wanted);
  if (keeps) wanted[CAP_TO_INDEX(cap)].permitted = wanted[CAP_TO_INDEX(cap)].effective = CAP_TO_MASK(cap);
  if (syscall(SYS_capset, &header, wanted) || syscall(SYS_capget, &header, now)) fail(STEP_CAPABILITIES);
  if (memcmp(wanted, now, sizeof wanted)) {
    errno = EPERM;
    fail(STEP_CAPABILITIES);
  }
}

/* Without namespaces there may be nothing to drop, and no right to drop it. With no_new_privs only
 * root regains capabilities. */
static int has_nothing_to_drop(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct now[2];
  if (syscall(SYS_capget, &header, now)) return 0;
  if (now[0].permitted | now[1].permitted | now[0].inheritable | now[1].inheritable) return 0;
  for (int cap = 0; geteuid() == 0 && prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
    if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0)) return 0;
  return 1;
}

static int has_capability(int cap) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct now[2];
  return syscall(SYS_capget, &header, now) == 0 && (now[CAP_TO_INDEX(cap)].permitted & CAP_TO_MASK(cap)) != 0;
}

void drop_capabilities(void) {
  if (bare_is_on() && has_nothing_to_drop()) return;
  /* uid 0 regains the bounding set at each exec, so empty the set, disable the root rule and lock
   * it. */
  unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                       SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
                       SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) || prctl(PR_SET_SECUREBITS, bits, 0, 0, 0))
    fail(STEP_CAPABILITIES);
  for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
    if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0)) fail(STEP_CAPABILITIES);
  keep_capability(CAP_SYS_PTRACE, broker_is_on() && has_capability(CAP_SYS_PTRACE));
}

/* The filter refuses later changes to the core limit, so that limit comes first; the others apply
 * to the command alone. */
void set_limits(int core) {
  for (size_t i = 0; i < setup.limit_count; i++) {
    struct rlimit now, wanted = {setup.limits[i].limit, setup.limits[i].limit};
    if ((setup.limits[i].which == RLIMIT_CORE) != core) continue;
    /* counts all processes of the user: bare/tree.c counts the command's */
    if (setup.limits[i].which == RLIMIT_NPROC && bare_is_on()) continue;
    if (getrlimit((int)setup.limits[i].which, &now)) fail(STEP_LIMITS);
    if (wanted.rlim_max > now.rlim_max) wanted.rlim_cur = wanted.rlim_max = now.rlim_max;
    /* Programs that use select() need the low soft limit; others raise it themselves. */
    if (setup.limits[i].which == RLIMIT_NOFILE && now.rlim_cur < wanted.rlim_cur)
      wanted.rlim_cur = now.rlim_cur;
    /* At the soft limit of processor time the kernel sends SIGXCPU, which names the cause; at the
     * hard limit, SIGKILL. */
    if (setup.limits[i].which == RLIMIT_CPU && wanted.rlim_max < now.rlim_max) wanted.rlim_max++;
    if (setrlimit((int)setup.limits[i].which, &wanted)) fail(STEP_LIMITS);
  }
}
