/*
 * What a command looks for and does not find, and which programs it runs, written down for `cordon learn`: each path once,
 * within bounds, told when everything is dead. Nothing is judged by it: a path is read as the caller wrote it, and may be
 * another by the time the kernel goes on.
 */
#ifndef LEARN_H
#define LEARN_H
#include "../broker/broker.h"

/* A prefix below which what is missing is missing outside as well. */
int learn_take(const char *prefix);
int learn_is_on(void);
/* One call of the command's; 1 when it came here for this alone, and may go on. */
int learn_call(const struct call *c, int nr);
/* Everybody is dead: all of it, by learn_send, which tell.c gives. */
void learn_tell(void);
void learn_send(uint32_t kind, const char *path, uint32_t count);
#endif
