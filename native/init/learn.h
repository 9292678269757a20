/* Records paths that a command did not find, and programs that it ran, for `cordon learn`: each
 * path once, within bounds, reported after all processes are dead. Nothing is judged by it: the
 * path is the caller's text, which may change before the kernel continues. */
#ifndef LEARN_H
#define LEARN_H
#include "../broker/broker.h"

/* A prefix below which missing paths are also missing outside. */
int learn_take(const char *prefix);
int learn_is_on(void);
/* Records one call. 1 if the call came here only for this, and may continue. */
int learn_call(const struct call *c, int nr);
/* Reports everything with learn_send, which messages.c defines. */
void learn_report(void);
void learn_send(uint32_t kind, const char *path, uint32_t count);
#endif
