/*
 * Ways to look like another program to the proxy. caller WAY PORT NAME [PROGRAM WORD...]: asks the proxy for /attack-NAME of
 * 127.0.0.1:PORT, while PROGRAM, which has hosts, runs in the same process, beside it or not at all.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define NUMBERS 24 /* of programs that there may be */
#define PROXY 3128

static char request[512];

static struct sockaddr_in at(uint32_t address, int port) {
  return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(address)};
}

static struct sockaddr_in6 mapped(uint32_t address, int port) {
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
  uint32_t wire = htonl(address);
  six.sin6_addr.s6_addr[10] = six.sin6_addr.s6_addr[11] = 0xff;
  memcpy(six.sin6_addr.s6_addr + 12, &wire, 4);
  return six;
}

static int open_stream(int family) {
  int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct timeval limit = {.tv_sec = 5};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  return fd;
}

static void ask(int fd) {
  char answer[4096];
  if (send(fd, request, strlen(request), MSG_NOSIGNAL) > 0)
    while (recv(fd, answer, sizeof answer, 0) > 0) continue;
  close(fd);
}

static void plainly(void) {
  int fd = open_stream(AF_INET);
  struct sockaddr_in to = at(INADDR_LOOPBACK, PROXY);
  if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0) ask(fd);
  else close(fd);
}

static uint32_t source(int number) { return 127u << 24 | 77u << 16 | (uint32_t)number; }

static void by_limit(void) {
  for (rlim_t number = 1; number < NUMBERS; number++) {
    struct rlimit limit = {number, RLIM_INFINITY};
    setrlimit(RLIMIT_LOCKS, &limit);
    prlimit(getppid(), RLIMIT_LOCKS, &limit, NULL);
    prlimit(0, RLIMIT_LOCKS, &limit, NULL);
    plainly();
  }
}

static void from(int number, int family, int any, int keeps_port_open, int fast) {
  int fd = open_stream(family), one = 1;
  struct sockaddr_in four = at(source(number), 0), to = at(any ? INADDR_ANY : INADDR_LOOPBACK, PROXY);
  struct sockaddr_in6 six = mapped(source(number), 0), six_to = mapped(INADDR_LOOPBACK, PROXY);
  if (any) six_to = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(PROXY)};
  if (keeps_port_open) setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
  if (fast == 2) setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &one, sizeof one);
  if (family == AF_INET) bind(fd, (struct sockaddr *)&four, sizeof four);
  else bind(fd, (struct sockaddr *)&six, sizeof six);
  if (fast == 1) {
    char answer[256];
    if (sendto(fd, request, strlen(request), MSG_FASTOPEN | MSG_NOSIGNAL, (struct sockaddr *)&to, sizeof to) > 0) recv(fd, answer, sizeof answer, 0);
    close(fd);
  } else if (connect(fd, family == AF_INET ? (struct sockaddr *)&to : (struct sockaddr *)&six_to, family == AF_INET ? sizeof to : sizeof six_to) == 0)
    ask(fd);
  else
    close(fd);
}

static void each(int family, int any, int keeps_port_open, int fast) {
  for (int number = 0; number < NUMBERS; number++) from(number, family, any, keeps_port_open, fast);
}

static int shared = -1;
static volatile int is_over;
static void *bind_again(void *unused) {
  for (int i = 0; !is_over; i++) {
    struct sockaddr_in four = at(source(1 + i % NUMBERS), 0);
    bind(shared, (struct sockaddr *)&four, sizeof four);
  }
  return unused;
}

/* Another thread binds while it connects. */
static void by_binding_again(void) {
  pthread_t thread;
  int one = 1;
  for (int i = 0; i < 20; i++) {
    shared = open_stream(AF_INET);
    setsockopt(shared, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
    is_over = 0;
    pthread_create(&thread, NULL, bind_again, NULL);
    struct sockaddr_in to = at(INADDR_LOOPBACK, PROXY);
    if (connect(shared, (struct sockaddr *)&to, sizeof to) == 0) ask(shared);
    is_over = 1;
    pthread_join(thread, NULL);
  }
}

static void *connect_often(void *unused) {
  for (int i = 0; i < 200; i++) plainly();
  return unused;
}

static char **program;

/* This process becomes the program while a thread of it connects. */
static void by_thread(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, connect_often, NULL);
  usleep(3000);
  execvp(program[0], program);
}

static int run_program(void *unused) {
  (void)unused;
  execvp(program[0], program);
  return 1;
}

/* A process that shares the memory becomes it. */
static void by_shared_memory(void) {
  static char stack[1 << 16];
  int child = clone(run_program, stack + sizeof stack, CLONE_VM | CLONE_FILES | SIGCHLD, NULL);
  for (int i = 0; i < 50; i++) plainly();
  waitpid(child, NULL, 0);
}

/* What the program started goes on without it. */
static void by_fork(void) {
  if (fork() == 0) {
    plainly();
    _exit(0);
  }
  wait(NULL);
}

/* One who forks all the time, so that numbers of processes come again. */
static void by_numbers(void) {
  for (int i = 0; i < 40; i++) {
    pid_t child = fork();
    if (child == 0) {
      if (i % 2) execvp(program[0], program);
      plainly();
      _exit(0);
    }
  }
  while (wait(NULL) > 0) continue;
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  const char *way = argv[1];
  program = argv + 4;
  snprintf(request, sizeof request, "POST http://127.0.0.1:%s/attack-%s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", argv[2], argv[3], argv[2]);
  if (!strcmp(way, "plain")) plainly();
  else if (!strcmp(way, "limit")) by_limit();
  else if (!strcmp(way, "source")) each(AF_INET, 0, 0, 0);
  else if (!strcmp(way, "no-port")) each(AF_INET, 0, 1, 0);
  else if (!strcmp(way, "any")) each(AF_INET, 1, 0, 0);
  else if (!strcmp(way, "mapped")) each(AF_INET6, 0, 0, 0);
  else if (!strcmp(way, "any-mapped")) each(AF_INET6, 1, 0, 0);
  else if (!strcmp(way, "fast-open")) each(AF_INET, 0, 0, 1);
  else if (!strcmp(way, "fast-open-later")) each(AF_INET, 0, 1, 2);
  else if (!strcmp(way, "bound-again")) by_binding_again();
  else if (!strcmp(way, "thread")) by_thread();
  else if (!strcmp(way, "shared-memory")) by_shared_memory();
  else if (!strcmp(way, "fork")) by_fork();
  else if (!strcmp(way, "numbers")) by_numbers();
  else return 2;
  return 0;
}

/* Loaded into a program: its process asks. */
__attribute__((constructor)) static void when_loaded(void) {
  const char *port = getenv("ASKED_AT"), *name = getenv("ASKED_FOR");
  if (!port || !name) return;
  snprintf(request, sizeof request, "POST http://127.0.0.1:%s/attack-%s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", port, name, port);
  plainly();
}
