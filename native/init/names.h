/*
 * The name service of a sandbox, and the refusing broker of a command that has no way out. Names that were ordered have an
 * address of the sandbox's own loopback, `*.domain` one for all below it; every other name does not exist, and is told to the parent once. Where no proxy of the
 * parent's listens, a connection to its port is answered here, with the reason in band. Nothing is ever asked outside.
 */
#ifndef NAMES_H
#define NAMES_H
#include <poll.h>
#include <stdint.h>

#define NAMES_CLIENTS 16
#define NAMES_PORT 53
#define NAMES_FDS (3 + NAMES_CLIENTS)

int names_add(uint32_t address, const char *name);
/* Returns -1 with errno; `port` of 0: no one is refused here. */
int names_open(uint16_t port);
void names_watch(struct pollfd *fds);
void names_serve(const struct pollfd *fds);

/* Given by tell.c: kind 0 a name that was asked for, 1 a host that a connection was meant for. */
void names_tell(uint32_t kind, const char *name, uint16_t port);
#endif
