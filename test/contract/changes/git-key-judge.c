/* Puts settings to the judge of the init: the lines of its table, `--`, then a key and a value each; a 0 or 1 for every pair. */
#include "../../../native/broker/broker.h"
#include <stdio.h>
#include <string.h>

int broker_take_target(const char *word, const char *path) { (void)word; (void)path; return 0; }
int is_own_folder(const char *value) { return !strcmp(value, "../../../sub"); }

int was_known_host(const char *before, const char *host) {
  (void)before;
  (void)host;
  return 0;
}

int main(int argc, char **argv) {
  int at = 1;
  for (; at < argc && strcmp(argv[at], "--"); at++)
    if (broker_take_key(argv[at])) return 2;
  for (at++; at + 1 < argc; at += 2) printf("%d\n", !!is_harmless_setting(argv[at], argv[at + 1], ""));
  return 0;
}
