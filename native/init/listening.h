#ifndef LISTENING_H
#define LISTENING_H
#include <stddef.h>
#include <stdint.h>

int listening_open(void);
/* A descriptor that is readable after a TCP socket of this namespace is gone; -1 if the kernel does
 * not report it. */
int listening_ends(void);
/* Sets found[i] if a connection to loopback would reach a listener on ports[i]. */
void listening_find(const uint16_t *ports, size_t count, uint8_t *found);
/* The ports with such a listener, each once, up to the capacity; returns their number. */
size_t listening_all(uint16_t *ports, size_t capacity);
#endif
