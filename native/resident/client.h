/* The parts of the client: client.c decides who does a call, environment.c with which variables, hand-over.c has a resident do it. */
#ifndef CORDON_CLIENT_H
#define CORDON_CLIENT_H
#include "resident.h"

enum kind { OTHER, HOOK, COMMAND };
enum { BLOCKED = 2, FAULT = 125 };

/* True for a variable that changes Node itself, and holds for a process that is started with it. */
int changes_node(const char *variable);
/* Puts these variables instead of what a project could have set for us; false without memory. */
int install_environment(char **given, size_t count);
/* True when there is something to read, or an end, before the deadline. */
int await(int fd, int64_t deadline);
int write_all(int fd, const char *bytes, size_t length);
int print_file(int fd, int to);
/* Has a resident do it; `input` is a hook's, read. Comes back where it has not begun, or where it does not matter that it has. */
void hand_over(const char *const program[2], char **arguments, enum kind kind, int input);
#endif
