/* The parts of the client: client.c chooses the process for a call, environment.c its variables,
 * hand-over.c passes it to a resident. */
#ifndef CORDON_CLIENT_H
#define CORDON_CLIENT_H
#include "resident.h"

enum kind { OTHER, HOOK, COMMAND };
enum { BLOCKED = 2, FAULT = 125 };

/* Whether a variable changes Node itself. */
int changes_node(const char *variable);
/* Replaces variables that a project could have set; false without memory. */
int install_environment(char **given, size_t count);
/* Whether there is data, or the end, before the deadline. */
int await(int fd, int64_t deadline);
int write_all(int fd, const char *bytes, size_t length);
int print_file(int fd, int to);
/* Passes a call to a resident; `input` is a hook's. Returns if the resident has not started it, or
 * if running it twice is harmless. */
void hand_over(const char *const program[2], char **arguments, enum kind kind, int input);
#endif
