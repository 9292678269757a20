/* Copies the settable extended attributes of a file, for the init and for the addon of undo. */
#ifndef ATTRIBUTES_H
#define ATTRIBUTES_H
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/xattr.h>

#define MAX_ATTRIBUTES 65536 /* the kernel's limit (XATTR_LIST_MAX, XATTR_SIZE_MAX) */

static inline int is_kept_attribute(const char *name) {
  return !strncmp(name, "user.", 5) || !strncmp(name, "system.posix_acl_", 17) ||
         !strcmp(name, "security.capability");
}

/* The names of a file's attributes, each NUL-terminated; -1 if unreadable. */
static inline ssize_t list_attributes(const char *path, char *names) {
  ssize_t size = listxattr(path, names, MAX_ATTRIBUTES);
  return size < 0 && (errno == ENOTSUP || errno == ENOSYS) ? 0 : size;
}

static inline int has_attributes(const char *path) {
  char names[4096];
  ssize_t size = listxattr(path, names, sizeof names);
  if (size < 0) return errno != ENOTSUP && errno != ENOSYS;
  for (ssize_t at = 0; at < size; at += (ssize_t)strlen(names + at) + 1)
    if (is_kept_attribute(names + at)) return 1;
  return 0;
}

/* Replaces the attributes of `to` by those of `from`. 0, or -1 with errno. */
static inline int copy_attributes(const char *from, const char *to) {
  char *names = malloc(2 * MAX_ATTRIBUTES);
  if (!names) return -1;
  char *value = names + MAX_ATTRIBUTES;
  int error = 0;
  ssize_t size = list_attributes(to, names), n;
  for (ssize_t at = 0; at < size; at += (ssize_t)strlen(names + at) + 1)
    if (is_kept_attribute(names + at) && getxattr(from, names + at, NULL, 0) < 0 &&
        (errno == ENODATA || errno == ENOTSUP) && removexattr(to, names + at))
      error = errno;
  size = list_attributes(from, names);
  if (size < 0) error = errno;
  for (ssize_t at = 0; at < size; at += (ssize_t)strlen(names + at) + 1)
    if (is_kept_attribute(names + at) && ((n = getxattr(from, names + at, value, MAX_ATTRIBUTES)) < 0 ||
                                          setxattr(to, names + at, value, (size_t)n, 0)))
      error = errno;
  free(names);
  errno = error;
  return error ? -1 : 0;
}
#endif
