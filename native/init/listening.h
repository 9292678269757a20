#ifndef LISTENING_H
#define LISTENING_H
#include <stddef.h>
#include <stdint.h>

int listening_open(void);
/* A descriptor that can be read after a TCP socket of this namespace is gone; -1 where the kernel does not tell. */
int listening_ends(void);
/* Sets found[i] where something listens on ports[i] that a connection to loopback would reach. */
void listening_find(const uint16_t *ports, size_t count, uint8_t *found);
/* The ports that something listens on so, each once, as many as there is space for; how many. */
size_t listening_all(uint16_t *ports, size_t capacity);
#endif
