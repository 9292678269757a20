/* Joins control groups: outside beside bubblewrap; inside, waits until that is done. */
#define _GNU_SOURCE
#include "init.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

int joining = -1;

static int write_pid(char **files, int count, pid_t pid) {
  char text[16];
  int length = snprintf(text, sizeof text, "%d", pid);
  for (int i = 0; i < count; i++) {
    int fd = open(files[i], O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, text, (size_t)length) != length) {
      fprintf(stderr, "cordon-init: cannot join the cgroup %s: %s\n", files[i], strerror(errno));
      return 0;
    }
    close(fd);
  }
  return 1;
}

/* The host pid of the greeting process, as the kernel reports it; 0 at the end of the socket. */
static pid_t greeted_by(int word) {
  union { struct cmsghdr header; char space[CMSG_SPACE(sizeof(struct ucred))]; } credentials;
  char greeting;
  struct iovec text = {.iov_base = &greeting, .iov_len = 1};
  struct msghdr packet = {.msg_iov = &text,
                          .msg_iovlen = 1,
                          .msg_control = credentials.space,
                          .msg_controllen = sizeof credentials.space};
  struct ucred sender;
  ssize_t n;
  do n = recvmsg(word, &packet, 0);
  while (n < 0 && errno == EINTR);
  struct cmsghdr *found = CMSG_FIRSTHDR(&packet);
  if (n != 1 || !found || found->cmsg_level != SOL_SOCKET || found->cmsg_type != SCM_CREDENTIALS) return 0;
  memcpy(&sender, CMSG_DATA(found), sizeof sender);
  return sender.pid;
}

/* Joining a cgroup waits 5 to 30 ms for a kernel lock, so a helper process does it while bubblewrap
 * creates the namespaces. The init greets, and waits for the result before it starts anything. */
static _Noreturn void join_beside(pid_t bubblewrap, char **files, int count, int word) {
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (!write_pid(files, count, bubblewrap)) _exit(FAULT_STATUS);
  pid_t init = greeted_by(word);
  if (init <= 0 || !write_pid(files, count, init) || send(word, "j", 1, MSG_NOSIGNAL) != 1)
    _exit(FAULT_STATUS);
  _exit(0);
}

int enter_cgroups(int argc, char **argv) {
  int rest = 2, word[2], one = 1;
  char name[16];
  while (rest < argc && strcmp(argv[rest], "--")) rest++;
  if (rest + 1 >= argc || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, word)) return FAULT_STATUS;
  if (setsockopt(word[1], SOL_SOCKET, SO_PASSCRED, &one, sizeof one)) return FAULT_STATUS;
  int kept = fcntl(word[0], F_DUPFD, 10); /* above the caller's descriptors */
  char **with_word = calloc((size_t)(argc - rest) + 1, sizeof(char *));
  if (kept < 0 || kept > 64 || !with_word) return FAULT_STATUS;
  snprintf(name, sizeof name, "j%d", kept);
  memcpy(with_word, argv + rest + 1, (size_t)(argc - rest - 1) * sizeof(char *));
  with_word[argc - rest - 1] = name;

  pid_t self = getpid(), helper = fork();
  if (helper < 0) return FAULT_STATUS;
  if (helper == 0) {
    close(kept);
    close(word[0]);
    join_beside(self, argv + 2, rest - 2, word[1]);
  }
  execv(with_word[0], with_word);
  fprintf(stderr, "cordon-init: cannot start %s: %s\n", with_word[0], strerror(errno));
  return FAULT_STATUS;
}

void greet_joiner(void) {
  if (joining >= 0 && send(joining, "h", 1, MSG_NOSIGNAL) != 1) fail(STEP_JOIN);
}

/* A helper that failed or was killed sends nothing. */
void wait_until_joined(void) {
  char word;
  ssize_t n;
  if (joining < 0) return;
  do n = recv(joining, &word, 1, 0);
  while (n < 0 && errno == EINTR);
  if (n == 0) errno = ENOENT;
  if (n != 1 || word != 'j') fail(STEP_JOIN);
  close(joining);
  joining = -1;
  /* Inside, the group is the root: its name would reveal the host's. */
  if (unshare(CLONE_NEWCGROUP)) fail(STEP_JOIN);
}
