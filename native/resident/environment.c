/* The environment of a call from an installed hook. A project that a host trusts can set variables
 * for every process of the host (Claude Code's `env`, a `.env`). Variables that locate Cordon's
 * policy and keys, or that make Node or the loader run code, come from the installation instead. */
#define _GNU_SOURCE
#include "client.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

static int begins(const char *variable, const char *const prefixes[]) {
  for (; *prefixes; prefixes++)
    if (!strncmp(variable, *prefixes, strlen(*prefixes))) return 1;
  return 0;
}

int changes_node(const char *variable) {
  static const char *const PREFIXES[] = {"NODE_", "LD_", "UV_", "GLIBC_", "MALLOC_", NULL};
  if (!strncmp(variable, "NODE_ENV=", 9) || is_configuration(variable)) return 0;
  return begins(variable, PREFIXES);
}

/* Read by src/system/machine.ts, which restores them for the command in the sandbox. */
static char *passed(const char *variable) {
  char *renamed = NULL;
  return asprintf(&renamed, "CORDON_PASSED_%s", variable) < 0 ? NULL : renamed;
}

int install_environment(char **given, size_t count) {
  static const char *const OWN[] = {"HOME=",
                                    "XDG_CONFIG_HOME=",
                                    "XDG_STATE_HOME=",
                                    "XDG_CACHE_HOME=",
                                    "CORDON_TRUSTED_KEYS=",
                                    "CORDON_PASSED_",
                                    NULL};
  size_t size = count + 1;
  for (char **variable = environ; *variable; variable++) size++;
  char **kept = calloc(size, sizeof *kept), **next = kept;
  if (!kept) return 0;
  for (char **variable = environ; *variable; variable++) {
    if (begins(*variable, OWN) || is_configuration(*variable)) continue;
    if (!changes_node(*variable)) *next++ = *variable;
    else if (!strncmp(*variable, "NODE_", 5) && !(*next++ = passed(*variable))) return 0;
  }
  for (size_t i = 0; i < count; i++) *next++ = given[i];
  environ = kept;
  return 1;
}
