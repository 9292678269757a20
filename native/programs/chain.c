/* Lists the processes above a program, for people. A process can claim any name, so nothing is
 * judged by this. */
#define _GNU_SOURCE
#include "programs.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_ABOVE 12
#define PROCESS_BYTES 160

static ssize_t read_file(pid_t pid, const char *name, char *into, size_t size) {
  char path[48];
  snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : read(fd, into, size - 1);
  if (fd >= 0) close(fd);
  if (n >= 0) into[n] = 0;
  return n;
}

pid_t parent_of(pid_t pid) {
  char text[512];
  if (read_file(pid, "stat", text, sizeof text) <= 0) return 0;
  const char *end = strrchr(text, ')'); /* the name before it may contain any character */
  int parent;
  return end && sscanf(end, ") %*c %d", &parent) == 1 ? parent : 0;
}

/* The caller first, each as its words separated by blanks, NUL-terminated; returns the total
 * length. */
size_t write_chain(pid_t tid, char *into, size_t size) {
  size_t length = 0;
  pid_t pid = tid;
  for (int i = 0; i < MAX_ABOVE && pid > 1 && length + PROCESS_BYTES < size; i++, pid = parent_of(pid)) {
    char *text = into + length;
    ssize_t n = read_file(pid, "cmdline", text, PROCESS_BYTES);
    if (n <= 0) continue;
    for (ssize_t at = 0; at < n - 1; at++)
      if (!text[at]) text[at] = ' ';
    length += strlen(text) + 1;
  }
  return length;
}
