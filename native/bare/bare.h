/* Confines a command without namespaces or mounts. Every open goes through the broker, which
 * resolves the path and passes a descriptor to the command. Landlock is the second layer: no
 * changes, no reads or programs outside the shown places, no signals out. A call with a path or an
 * address that Landlock does not check never continues in the kernel: another thread could replace
 * it.
 *
 * wall.c sets the Landlock rules, view.c opens, sockets.c connects, binds and listens, tree.c
 * counts and ends the processes. */
#ifndef BARE_H
#define BARE_H
#include "../broker/broker.h"

/* wall.c */
int bare_take(const char *path);
int bare_is_on(void);
int bare_shows(const char *path);
int bare_is_above_shown(const char *path);
int bare_wall(void);
int bare_may_go_on(const struct call *c);
int bare_checks_signals(void);

/* view.c */
void bare_record_masks(void);
int bare_refuses(const struct spot *s);
void bare_open(const struct call *c, int at, uint64_t path, int flags);

/* sockets.c */
int bare_open_proxy(void);
void bare_connect(const struct call *c, int number, uint64_t from, uint64_t length);
void bare_bind(const struct call *c, int number, uint64_t from, uint64_t length);
void bare_listen(const struct call *c, int number, int backlog);

/* tree.c */
void bare_guard(void);
int bare_is_inside(pid_t pid);
void bare_fork(const struct call *c);
void bare_signal(const struct call *c);
void bare_end(void);
void bare_kill(void);
#endif
