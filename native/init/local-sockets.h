/*
 * Unix sockets of the host that were granted: a listener is at each path inside, and every connection to it is handed to the
 * parent, which connects outside. The host's own socket is never shown.
 */
#ifndef LOCAL_SOCKETS_H
#define LOCAL_SOCKETS_H
#include <poll.h>

#define LOCAL_SOCKETS 32

/* Returns -1 for one too many, or for a path that no address holds. */
int local_sockets_add(const char *path);
int local_sockets_count(void);
/* Before the sandbox is made read-only. Returns -1 with errno. */
int local_sockets_open(void);
void local_sockets_watch(struct pollfd *fds);
void local_sockets_serve(const struct pollfd *fds);

/* Given by listeners.c: a connection to the path of this number; it stays the caller's to close. */
void local_sockets_hand(unsigned number, int fd);
#endif
