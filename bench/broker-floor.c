/*
 * The least that a broker for changes can cost: runs a command whose calls that change files are reported to this program, as the broker's
 * are, and has the kernel go on with each at once. With `removes` as the first word it removes what is to be removed itself, as the
 * broker must (a path in the caller's memory may be another one by the time the kernel reads it), and still judges and keeps nothing.
 *   broker-floor answers|removes COMMAND [ARGUMENT...]
 *   broker-floor times FILE COMMAND [ARGUMENT...]     the processor time of it, and of process 1 meanwhile, in microseconds, into a file
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif
#define SYNC_WAKE_UP 1UL
#define PAGE 4096

static const int calls[] = {SYS_mkdirat, SYS_mknodat, SYS_symlinkat, SYS_linkat, SYS_unlinkat, SYS_renameat2, SYS_truncate,
#ifdef SYS_mkdir
  SYS_mkdir, SYS_mknod, SYS_symlink, SYS_link, SYS_unlink, SYS_rmdir, SYS_rename, SYS_renameat, SYS_creat,
#endif
};
enum { CALLS = sizeof calls / sizeof *calls };

static int listen_for_changes(void) {
  struct sock_filter code[CALLS + 7];
  int n = 0;
  code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (int i = 0; i < CALLS; i++) code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], (unsigned char)(CALLS - i + 3), 0);
  code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 2);
  code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2]));
  code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC, 1, 0);
  code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
  struct sock_fprog program = {.len = (unsigned short)n, .filter = code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return -1;
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &program);
}

union rights { struct cmsghdr header; char space[CMSG_SPACE(sizeof(int))]; };

static void give(int socket, int fd) {
  union rights rights = {.header = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))}};
  char word = 'l';
  struct iovec text = {&word, 1};
  struct msghdr packet = {.msg_iov = &text, .msg_iovlen = 1, .msg_control = rights.space, .msg_controllen = sizeof rights.space};
  memcpy(CMSG_DATA(&rights.header), &fd, sizeof fd);
  if (sendmsg(socket, &packet, 0) != 1) _exit(126);
}

static int take(int socket) {
  union rights rights;
  char word;
  int fd = -1;
  struct iovec text = {&word, 1};
  struct msghdr packet = {.msg_iov = &text, .msg_iovlen = 1, .msg_control = rights.space, .msg_controllen = sizeof rights.space};
  if (recvmsg(socket, &packet, 0) == 1) memcpy(&fd, CMSG_DATA(&rights.header), sizeof fd);
  return fd;
}

static int remove_for(const struct seccomp_notif *notice) {
  char name[PAGE], link[64];
  uint64_t from = notice->data.args[1];
  struct iovec local = {name, PAGE - (from & (PAGE - 1))}, remote = {(void *)(uintptr_t)from, local.iov_len};
  int at = (int)notice->data.args[0];
  if (process_vm_readv((pid_t)notice->pid, &local, 1, &remote, 1, 0) <= 0) return EFAULT;
  if (at == AT_FDCWD) snprintf(link, sizeof link, "/proc/%d/cwd", (int)notice->pid);
  else snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)notice->pid, at);
  int folder = open(link, O_PATH | O_CLOEXEC);
  if (folder < 0) return EBADF;
  int error = unlinkat(folder, name, (int)notice->data.args[2]) ? errno : 0;
  close(folder);
  return error;
}

static void answer_all(int listener, int removes) {
  static union { struct seccomp_notif notice; char capacity[1024]; } buffer;
  struct pollfd wait = {.fd = listener, .events = POLLIN};
  (void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SYNC_WAKE_UP);
  for (;;) {
    memset(&buffer, 0, sizeof buffer.notice);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &buffer)) { /* the caller is gone, or all are */
      if (poll(&wait, 1, 100) > 0 && (wait.revents & POLLHUP)) return;
      continue;
    }
    struct seccomp_notif_resp response = {.id = buffer.notice.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    if (removes && buffer.notice.data.nr == SYS_unlinkat) {
      response.flags = 0;
      response.error = -remove_for(&buffer.notice);
    }
    (void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
  }
}

/* What all threads of process 1 have taken: the broker's, where there is one. */
static double init_us(void) {
  double sum = 0, one;
  DIR *tasks = opendir("/proc/1/task");
  for (struct dirent *entry; tasks && (entry = readdir(tasks));) {
    char path[300];
    snprintf(path, sizeof path, "/proc/1/task/%s/schedstat", entry->d_name);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%lf", &one) == 1) sum += one / 1000;
    if (file) fclose(file);
  }
  if (tasks) closedir(tasks);
  return sum;
}

static int time_command(const char *file, char **words) {
  struct rusage taken;
  int status = 0;
  double before = init_us();
  pid_t child = fork();
  if (child == 0) {
    execvp(words[0], words);
    _exit(127);
  }
  if (child < 0 || waitpid(child, &status, 0) != child || getrusage(RUSAGE_CHILDREN, &taken)) return 125;
  double us = init_us() - before + (double)(taken.ru_utime.tv_sec + taken.ru_stime.tv_sec) * 1e6 + (double)(taken.ru_utime.tv_usec + taken.ru_stime.tv_usec);
  FILE *out = fopen(file, "w");
  if (!out || fprintf(out, "%.0f\n", us) < 0 || fclose(out)) return 125;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 124;
}

int main(int count, char **words) {
  if (count > 3 && !strcmp(words[1], "times")) return time_command(words[2], words + 3);
  int pair[2], status = 0;
  if (count < 3 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) return 125;
  pid_t child = fork();
  if (child < 0) return 125;
  if (child == 0) {
    int listener = listen_for_changes();
    if (listener < 0) _exit(125);
    give(pair[1], listener);
    close(listener);
    execvp(words[2], words + 2);
    _exit(127);
  }
  close(pair[1]);
  int listener = take(pair[0]);
  if (listener >= 0) answer_all(listener, !strcmp(words[1], "removes"));
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 124;
}
