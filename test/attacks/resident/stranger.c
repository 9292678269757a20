/*
 * What a resident's socket may meet: someone who answers in its place, and connections that never say anything.
 *   stranger forge PATH     listens there and says yes to everything; prints a line for each call that handed it something
 *   stranger flood PATH N   opens N connections, prints how many, and stays
 *   stranger call PATH      connects, prints `connected` or the error
 */
#define _GNU_SOURCE
#include "../../../native/resident/resident.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct sockaddr_un address = {.sun_family = AF_UNIX};

static int forge(int fd) {
  unlink(address.sun_path);
  if (bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 16)) return 1;
  puts("listening"), fflush(stdout);
  for (;;) {
    struct hello hello;
    struct ready ready = {MAGIC, READY, getpid()};
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
  int opened = 0;
  for (int i = 0; i < atoi(argv[3]); i++) {
    int one = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);
    opened += one >= 0 && !connect(one, (struct sockaddr *)&address, sizeof address);
  }
  printf("%d\n", opened), fflush(stdout);
  pause();
}
