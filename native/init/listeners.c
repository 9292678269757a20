/* Creates the listeners for proxies, and hands them to the parent as Node expects. */
#define _GNU_SOURCE
#include "init.h"
#include "local-sockets.h"
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int ipc = -1;

/* Node reads a socket from its IPC channel as one line of JSON with the descriptor beside it. */
int send_handle(const char *message, int handle) {
  union { struct cmsghdr header; char space[CMSG_SPACE(sizeof(int))]; } rights;
  memset(&rights, 0, sizeof rights);
  struct iovec text = {.iov_base = (void *)(uintptr_t)message, .iov_len = strlen(message)};
  struct msghdr packet = {
      .msg_iov = &text, .msg_iovlen = 1, .msg_control = rights.space, .msg_controllen = sizeof rights.space};
  rights.header.cmsg_level = SOL_SOCKET;
  rights.header.cmsg_type = SCM_RIGHTS;
  rights.header.cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(&rights.header), &handle, sizeof(int));
  return sendmsg(ipc, &packet, MSG_NOSIGNAL) == (ssize_t)text.iov_len;
}

/* Early, so that the parent prepares for connections while the sandbox is being set up. */
static void hand_over_listener(uint32_t bound, uint16_t port, const char *message) {
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(bound)};
  int one = 1;
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one)) fail(STEP_LISTENER);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 512))
    fail(STEP_LISTENER);
  if (!send_handle(message, listener)) fail(STEP_HANDOVER);
  close(listener); /* the parent has it; nothing inside may accept its connections */
}

void hand_over_listeners(void) {
  char message[128];
  hand_over_listener(INADDR_LOOPBACK, setup.port,
                     "{\"cmd\":\"NODE_HANDLE\",\"type\":\"net.Server\",\"msg\":\"listener\"}\n");
  for (size_t i = 0; i < setup.listener_count; i++) {
    snprintf(message, sizeof message, "{\"cmd\":\"NODE_HANDLE\",\"type\":\"net.Server\",\"msg\":\"%u\"}\n",
             setup.listeners[i].port);
    hand_over_listener(setup.listeners[i].address, setup.listeners[i].port, message);
  }
}

/* Waits until the parent has acknowledged each listener. */
void await_handover(void) {
  static const char ack[] = "{\"cmd\":\"NODE_HANDLE_ACK\"}\n";
  char answer[sizeof ack - 1];
  size_t got = 0;
  while (got < sizeof answer) {
    ssize_t n = read(ipc, answer + got, sizeof answer - got);
    if (n < 0 && (errno == EINTR)) continue;
    if (n < 0 && errno == EAGAIN) {
      struct pollfd wait = {.fd = ipc, .events = POLLIN};
      poll(&wait, 1, -1);
      continue;
    }
    if (n == 0) errno = EPIPE;
    if (n <= 0) fail(STEP_HANDOVER);
    got += (size_t)n;
  }
  if (memcmp(answer, ack, sizeof answer)) {
    errno = EPROTO;
    fail(STEP_HANDOVER);
  }
}

/* Handles with a negative number do not answer a WORD_CONNECT. If the handle cannot be sent, the peer sees
 * the connection closed. */
void local_sockets_hand(unsigned number, int fd) {
  char message[64];
  snprintf(message, sizeof message, "{\"cmd\":\"NODE_HANDLE\",\"type\":\"net.Socket\",\"msg\":-%u}\n",
           number + 1);
  if (ipc >= 0) send_handle(message, fd);
}

/* Node acknowledges each handle; nothing follows from that. */
void drain_acks(void) {
  char ignored[4096];
  ssize_t n;
  while ((n = recv(ipc, ignored, sizeof ignored, MSG_DONTWAIT)) > 0) continue;
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  close(ipc);
  ipc = -1;
}
