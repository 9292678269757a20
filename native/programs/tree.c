/* Lists the programs that ran, for the audit log: up to a cap, each with its process and the
 * process that started it. */
#define _GNU_SOURCE
#include "programs.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MOST 64
#define WORD_BYTES 1024
#define MAX_ABOVE 8

static struct {
  pid_t pid, parent;
  size_t length;
  char *text; /* the file name and the words, each NUL-terminated */
} started[MOST];
static size_t started_count, left_out;
static pthread_mutex_t tree = PTHREAD_MUTEX_INITIALIZER;

static int is_noted(pid_t pid) {
  for (size_t i = 0; i < started_count; i++)
    if (started[i].pid == pid) return 1;
  return 0;
}

/* Skips processes that forked without an exec, such as a subshell. */
static pid_t starter_of(pid_t pid) {
  pid_t parent = parent_of(pid);
  for (int i = 0; i < MAX_ABOVE && parent > 1 && !is_noted(parent); i++) parent = parent_of(parent);
  return parent;
}

/* At the exec stop, when the process is known by its new image. */
void note_started(pid_t pid, const struct image *image, const struct words *w) {
  const char *name = base_name(image->path);
  size_t capacity = strlen(name) + 1, words = w->length < WORD_BYTES ? w->length : WORD_BYTES;
  pthread_mutex_lock(&tree);
  char *text = started_count < MOST ? malloc(capacity + words) : NULL;
  if (text) {
    memcpy(text, name, capacity);
    memcpy(text + capacity, w->bytes, words);
    started[started_count].parent = starter_of(pid);
    started[started_count].pid = pid;
    started[started_count].length = capacity + words;
    started[started_count++].text = text;
  } else left_out++;
  pthread_mutex_unlock(&tree);
}

/* At the end, when nothing runs any more. */
void programs_tell(void) {
  pthread_mutex_lock(&tree);
  for (size_t i = 0; i < started_count; i++)
    programs_send((uint32_t)started[i].pid, (uint32_t)started[i].parent, started[i].text, started[i].length);
  if (left_out) programs_send(0, (uint32_t)left_out, "", 0);
  pthread_mutex_unlock(&tree);
}
