/*
 * A command without namespaces: nothing is mounted and nothing is hidden, so all that it opens goes through the broker, which looks where
 * it leads and hands the descriptor in. Landlock is the wall behind that: it lets nothing be changed, nothing outside the shown places be
 * read or run, and no signal out. No call that Landlock does not judge ever goes on in the kernel with a path or an address that
 * could be another one by then.
 *
 * wall.c is that wall, view.c opens, sockets.c connects, binds and listens, tree.c counts and ends the processes.
 */
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
int bare_hears_signals(void);

/* view.c */
void bare_look(void);
int bare_refuses(const struct spot *s);
void bare_open(const struct call *c, int at, uint64_t path, int flags);

/* sockets.c */
int bare_open_way(void);
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
