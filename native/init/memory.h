#ifndef MEMORY_H
#define MEMORY_H
#include <stdint.h>
#include <sys/types.h>

/* The sandbox may use this many thousandths of the machine's memory. Returns -1 where the kernel does not say how much that is. */
int memory_open(uint32_t thousandths);
/*
 * Looks when it is time to; *next is the milliseconds until then. Returns 0 within the limit, the process that uses the most where
 * ending it helps, or -1 where only the end of everything does.
 */
pid_t memory_look(uint64_t now, int *next);
uint64_t memory_limit(void);
#endif
