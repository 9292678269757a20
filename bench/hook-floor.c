/* The least that a hook can cost: put instead of `cordon-client` it reads what the host tells it, and says nothing. */
#include <unistd.h>

int main(void) {
  char piece[65536];
  while (read(0, piece, sizeof piece) > 0) continue;
  return 0;
}
