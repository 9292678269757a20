#ifndef MEMORY_H
#define MEMORY_H
#include <stdint.h>
#include <sys/types.h>

/* Limits the sandbox to so many thousandths of the machine's memory. Returns -1 if the kernel does
 * not report the total. */
int memory_open(uint32_t thousandths);
/* Checks if it is time to; *next is the milliseconds until then. Returns 0 within the limit, the
 * largest process if ending it helps, or -1 if only ending everything does. */
pid_t memory_check(uint64_t now, int *next);
uint64_t memory_limit(void);
#endif
