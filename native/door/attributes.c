/*
 * Extended attributes: access lists, capabilities and the user's own. Landlock does not know them, so the kernel goes on with a change,
 * as with modes; what was there is first put on a kept file, from which src/undo/ takes it again.
 */
#define _GNU_SOURCE
#include "door.h"
#include "../attributes.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Puts the attributes of an open file on a kept one. */
int keep_attributes_of(int fd, int kept) {
  char from[32], to[32];
  snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
  snprintf(to, sizeof to, "/proc/self/fd/%d", kept);
  return copy_attributes(from, to);
}

static int note_attributes(struct spot *s) {
  uint32_t number = 0;
  if (!is_ours(s) || is_loose(s) || !s->is_there || (seen(&s->about) & (SEEN_MADE | SEEN_ATTRIBUTES))) return 0;
  if (s->about.st_nlink == 0) return set_apart(&s->about, s->object);
  uint8_t kept = keep_attributes(s, &number);
  if (journal('a', s, NULL, kept, number) == 0) see(&s->about, SEEN_ATTRIBUTES);
  return 0;
}

void answer_attributes(const struct call *c, uint64_t path, int follow) {
  static struct spot s;
  static char text[PATH_MAX];
  int error = 0;
  if (copy_text(c, path, text, sizeof text) == 0 && find_spot(c, AT_FDCWD, text, follow, &s) == 0) {
    error = note_attributes(&s);
    leave_spot(&s);
  }
  answer_or_go_on(c, error);
}

void answer_attributes_of(const struct call *c, int fd) {
  static struct spot s;
  int error = 0;
  if (find_object(c, fd, &s) == 0) {
    error = note_attributes(&s);
    leave_spot(&s);
  }
  answer_or_go_on(c, error);
}
