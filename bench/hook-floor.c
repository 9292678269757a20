/* The least that a hook can cost: put instead of `cordon-client` it reads the host's input, and prints nothing. */
#include <unistd.h>

int main(void) {
  char piece[65536];
  while (read(0, piece, sizeof piece) > 0) continue;
  return 0;
}
