/* The name service of a sandbox, and the refusing proxy of a command without network. Granted names
 * have an address of the sandbox's loopback, `*.domain` one for all below it. Every other name does
 * not exist, and is reported to the parent once. Without a proxy of the parent, connections to its
 * port are refused here, with the reason in the reply. Nothing is ever queried outside. */
#ifndef NAMES_H
#define NAMES_H
#include <poll.h>
#include <stdint.h>

#define NAMES_CLIENTS 16
#define NAMES_PORT 53
#define NAMES_FDS (3 + NAMES_CLIENTS)

int names_add(uint32_t address, const char *name);
/* Returns -1 with errno. With `port` 0 no connections are refused here. */
int names_open(uint16_t port);
void names_watch(struct pollfd *fds);
void names_serve(const struct pollfd *fds);

/* Defined by messages.c: kind 0 for a queried name, 1 for the host of a connection. */
void names_report(uint32_t kind, const char *name, uint16_t port);
#endif
