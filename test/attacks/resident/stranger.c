/*
 * What a resident's socket may meet: someone who answers in its place, and connections that never say anything.
 *   stranger forge PATH     listens there and says yes to everything; prints a line for each call that handed it something
 *   stranger flood PATH N   opens N connections, prints how many, and stays
 *   stranger call PATH      connects, prints `connected` or the error
 *   stranger ask PATH NODE CORDON CLIENT [walled]
 *                           asks for a command without being the client, with its greeting to the letter but for the proof, which it
 *                           fetches or forges; `walled`: from behind Landlock. Prints what came of it
 */
#define _GNU_SOURCE
#include "../../../native/resident/resident.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static struct sockaddr_un address = {.sun_family = AF_UNIX};

static int forge(int fd) {
  unlink(address.sun_path);
  if (bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 16)) return 1;
  puts("listening"), fflush(stdout);
  for (;;) {
    struct hello hello;
    struct ready ready = {MAGIC, READY, getpid(), 0};
    struct done done = {MAGIC, 0};
    char go[64];
    int caller = accept(fd, NULL, NULL);
    if (caller < 0) continue;
    if (recv(caller, &hello, sizeof hello, 0) == sizeof hello && send(caller, &ready, sizeof ready, MSG_NOSIGNAL) > 0 &&
        recv(caller, go, sizeof go, 0) == sizeof(struct go)) {
      puts("handed over"), fflush(stdout);
      send(caller, &done, sizeof done, MSG_NOSIGNAL);
    }
    close(caller);
  }
}

/* The request of `cordon run -- touch stolen.txt` in this directory. */
static int payload(void) {
  static const char WORDS[] = "run\0--\0touch\0stolen.txt";
  uint32_t counts[2] = {4, 0};
  for (char **variable = environ; *variable; variable++) counts[1]++;
  int fd = memfd_create("request", 0);
  if (write(fd, counts, sizeof counts) != sizeof counts || write(fd, WORDS, sizeof WORDS) != sizeof WORDS) return -1;
  for (char **variable = environ; *variable; variable++) dprintf(fd, "%s%c", *variable, 0);
  return fd;
}

/* No one's marks, only the wall: nothing may be written, and no one outside looked into. */
static int wall(void) {
  struct landlock_ruleset_attr rules = {.handled_access_fs = LANDLOCK_ACCESS_FS_MAKE_DIR};
  int fd = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
  return fd >= 0 && !syscall(SYS_landlock_restrict_self, fd, 0);
}

static const char *ask(int fd, char **program) {
  struct hello hello = {.magic = MAGIC};
  struct ready ready;
  struct done done;
  char path[64];
  const char *paths[] = {program[0], program[1], program[2]};
  for (int i = 0; i < 3; i++) {
    struct stat facts;
    if (stat(paths[i], &facts)) return "no program";
    const uint64_t seen[] = {facts.st_dev, facts.st_ino, (uint64_t)facts.st_size, (uint64_t)facts.st_mode << 32 | facts.st_uid,
        (uint64_t)facts.st_mtim.tv_sec * 1000000000 + (uint64_t)facts.st_mtim.tv_nsec,
        (uint64_t)facts.st_ctim.tv_sec * 1000000000 + (uint64_t)facts.st_ctim.tv_nsec};
    memcpy(hello.stamp.facts[i], seen, sizeof seen);
  }
  if (send(fd, &hello, sizeof hello, MSG_NOSIGNAL) < 0 || recv(fd, &ready, sizeof ready, 0) != sizeof ready) return "unheard";
  if (ready.answer != READY) return "turned away";
  snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)ready.pid, (int)ready.proof);
  int nothing = open("/dev/null", O_RDWR), fetched = open(path, O_PATH), here = open(".", O_PATH | O_DIRECTORY);
  const char *how = fetched < 0 ? "forged" : "fetched";
  int life[2];
  if (pipe(life)) return "no pipe";
  int fds[HANDED] = {payload(), here, nothing, nothing, nothing, fetched < 0 ? memfd_create("cordon-proof", 0) : fetched, life[0]};
  struct go go = {MAGIC, 022};
  struct iovec part = {&go, sizeof go};
  union {
    char bytes[CMSG_SPACE(sizeof fds)];
    struct cmsghdr head;
  } control = {0};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
  control.head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fds), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
  memcpy(CMSG_DATA(&control.head), fds, sizeof fds);
  if (sendmsg(fd, &message, MSG_NOSIGNAL) < 0 || recv(fd, &done, sizeof done, 0) != sizeof done) return "not answered";
  static char said[64];
  snprintf(said, sizeof said, "%s, %s", how, done.code == NOT_BEGUN ? "nothing begun" : "served");
  return said;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  snprintf(address.sun_path, sizeof address.sun_path, "%s", argv[2]);
  int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  if (!strcmp(argv[1], "forge")) return forge(fd);
  if (!strcmp(argv[1], "call")) {
    int failed = fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address);
    puts(failed ? strerror(errno) : "connected");
    return 0;
  }
  if (!strcmp(argv[1], "ask")) {
    int failed = argc < 6 || fd < 0 || (argc > 6 && !wall()) || connect(fd, (struct sockaddr *)&address, sizeof address);
    puts(failed ? "no way there" : ask(fd, argv + 3));
    return 0;
  }
  int opened = 0;
  for (int i = 0; i < atoi(argv[3]); i++) {
    int one = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);
    opened += one >= 0 && !connect(one, (struct sockaddr *)&address, sizeof address);
  }
  printf("%d\n", opened), fflush(stdout);
  pause();
}
