/*
 * Runs a program as container engines do by default: Docker's set of capabilities, and a filter that refuses namespaces, mounts and
 * whatever else takes CAP_SYS_ADMIN or CAP_SYS_PTRACE there.
 *   like-docker PROGRAM [ARGUMENT...]
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DOCKERS 0xa80425fbu
#define NAMESPACES 0x7e020000u

static const uint16_t refused[] = {
    SYS_unshare, SYS_setns, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_open_tree, SYS_move_mount, SYS_fsopen, SYS_fsconfig, SYS_fsmount, SYS_fspick,
    SYS_mount_setattr, SYS_bpf, SYS_perf_event_open, SYS_pidfd_getfd, SYS_kcmp, SYS_process_madvise, SYS_open_by_handle_at, SYS_fanotify_init,
    SYS_sethostname, SYS_setdomainname, SYS_quotactl, SYS_syslog, SYS_keyctl, SYS_add_key, SYS_request_key, SYS_userfaultfd,
};

int main(int argc, char **argv) {
  struct sock_filter program[64];
  unsigned short at = 0;
  if (argc < 2) return 2;
  program[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    program[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refused[i], 0, 1);
    program[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  }
  program[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1);
  program[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
  program[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3);
  program[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args));
  program[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NAMESPACES, 0, 1);
  program[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  program[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog filter = {at, program};
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct caps[2] = {{DOCKERS, DOCKERS, 0}, {0, 0, 0}};
  if (geteuid() == 0) {
    for (unsigned cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
      if (cap > 31 || !(DOCKERS >> cap & 1)) (void)prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
  }
  /* A user has no right to load a filter without it; it is what `no-new-privileges` of an engine sets, too. */
  if ((geteuid() != 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter)) {
    perror("like-docker: filter");
    return 125;
  }
  if (geteuid() == 0 && syscall(SYS_capset, &header, caps)) {
    perror("like-docker: capabilities");
    return 125;
  }
  execvp(argv[1], argv + 1);
  perror(argv[1]);
  return 127;
}
