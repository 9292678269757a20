/* Folds each line as the broker folds paths. */
#include "../../../native/broker/rules.c"
#include <stdio.h>

int main(void) {
  static char line[256];
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = 0;
    fold(line);
    puts(line);
  }
  return 0;
}
