/* Granted unix sockets of the host. A listener is at each path inside, and every connection is
 * handed to the parent, which connects outside. The host's socket is never shown. */
#ifndef LOCAL_SOCKETS_H
#define LOCAL_SOCKETS_H
#include <poll.h>

/* Returns -1 for one too many, or for a path too long for an address. */
int local_sockets_add(const char *path);
int local_sockets_count(void);
/* Before the sandbox becomes read-only. Returns -1 with errno. */
int local_sockets_open(void);
void local_sockets_watch(struct pollfd *fds);
void local_sockets_serve(const struct pollfd *fds);

/* Defined by listeners.c: a connection to the path of this number; the caller closes it. */
void local_sockets_hand(unsigned number, int fd);
#endif
