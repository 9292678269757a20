#define _GNU_SOURCE
#include "local-sockets.h"
#include "protocol.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define AT_ONCE 16 /* connections accepted in one round, so that the loop continues */

static struct sockaddr_un addresses[MAX_SOCKETS];
static int listeners[MAX_SOCKETS];
static int count;

int local_sockets_add(const char *path) {
  if (count == MAX_SOCKETS || path[0] != '/' || strlen(path) >= sizeof addresses[0].sun_path) return -1;
  addresses[count].sun_family = AF_UNIX;
  strcpy(addresses[count].sun_path, path);
  listeners[count++] = -1;
  return 0;
}

int local_sockets_count(void) { return count; }

static int make_folders(const char *path) {
  char folder[sizeof addresses[0].sun_path];
  strcpy(folder, path);
  for (char *at = strchr(folder + 1, '/'); at; at = strchr(at + 1, '/')) {
    *at = 0;
    if (mkdir(folder, 0755) && errno != EEXIST) return -1;
    *at = '/';
  }
  return 0;
}

int local_sockets_open(void) {
  for (int i = 0; i < count; i++) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || make_folders(addresses[i].sun_path)) return -1;
    if (bind(fd, (struct sockaddr *)&addresses[i], sizeof addresses[i]) ||
        chmod(addresses[i].sun_path, 0666) || listen(fd, 128))
      return -1;
    listeners[i] = fd;
  }
  return 0;
}

void local_sockets_watch(struct pollfd *fds) {
  for (int i = 0; i < MAX_SOCKETS; i++)
    fds[i] = (struct pollfd){.fd = i < count ? listeners[i] : -1, .events = POLLIN};
}

void local_sockets_serve(const struct pollfd *fds) {
  for (int i = 0; i < count; i++) {
    if (!(fds[i].revents & POLLIN)) continue;
    for (int taken = 0; taken < AT_ONCE; taken++) {
      int fd = accept4(listeners[i], NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd < 0) break;
      local_sockets_hand((unsigned)i, fd);
      close(fd);
    }
  }
}
