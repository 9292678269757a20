/* first-byte PORT TEXT: sends TEXT to 127.0.0.1:PORT and prints the first byte of the answer; "self" for PORT answers itself. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  int self = !strcmp(argv[1], "self"), server = -1;
  char byte;
  if (self) {
    server = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(server, (struct sockaddr *)&address, sizeof address) || listen(server, 1)) return 3;
    if (getsockname(server, (struct sockaddr *)&address, &length)) return 3;
  } else {
    address.sin_port = htons((unsigned short)atoi(argv[1]));
  }
  int client = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(client, (struct sockaddr *)&address, sizeof address)) return 4;
  if (write(client, argv[2], strlen(argv[2])) < 0) return 5;
  if (self) {
    int accepted = accept(server, 0, 0);
    if (read(accepted, &byte, 1) != 1 || write(accepted, &byte, 1) != 1) return 6;
  }
  return read(client, &byte, 1) == 1 && write(1, &byte, 1) == 1 ? 0 : 7;
}
