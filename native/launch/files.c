/*
 * Functions for files that Node lacks: extended attributes, times of links, and notices of changed folders.
 * Paths end in NUL.
 *
 *   attributes(from, to)               replaces the extended attributes of a file; 0, or an errno
 *   has_attributes(path)               1 or 0
 *   watch(watches, folder)             watches an open folder with an instance of inotify; -1 for `watches`
 *                                      creates one. The watch, or the instance; a negative errno on failure
 *   unwatch(watches, watch)            ends a watch
 *   lock(fd)                           locks an open file without waiting; 0, or an errno
 *   times(path, seconds, nanoseconds)  sets the mtime of a file, or of a link itself; 0, or an errno
 */
#define _GNU_SOURCE
#include "../addon.h"
#include "../attributes.h"
#include "launch.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>

/* Whether an argument is a path that ends in NUL. */
static int takes_path(napi_env env, napi_value given, const char **path) {
  size_t size;
  return !napi_get_buffer_info(env, given, (void **)path, &size) && size > 0 && (*path)[size - 1] == 0;
}

napi_value set_times(napi_env env, napi_callback_info info) {
  size_t count = 3;
  napi_value given[3], result;
  const char *path;
  double seconds, nanoseconds;
  if (napi_get_cb_info(env, info, &count, given, NULL, NULL) || count != 3 ||
      !takes_path(env, given[0], &path) || napi_get_value_double(env, given[1], &seconds) ||
      napi_get_value_double(env, given[2], &nanoseconds)) {
    napi_throw_error(env, NULL,
                     "cordon-launch: times takes a path that ends in NUL, seconds and nanoseconds");
    return NULL;
  }
  struct timespec changed[2] = {{.tv_nsec = UTIME_OMIT},
                                {.tv_sec = (time_t)seconds, .tv_nsec = (long)nanoseconds}};
  napi_create_int32(env, utimensat(AT_FDCWD, path, changed, AT_SYMLINK_NOFOLLOW) ? errno : 0, &result);
  return result;
}

/* By descriptor: the path could name another folder by now. */
static int watch_folder(int watches, int folder) {
  char link[32];
  if (watches < 0) return inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
  return inotify_add_watch(watches, link,
                           IN_CREATE | IN_DELETE | IN_MOVE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF |
                               IN_ONLYDIR);
}

napi_value watch_changes(napi_env env, napi_callback_info info) {
  size_t count = 2;
  napi_value given[2], result;
  double watches, folder;
  if (napi_get_cb_info(env, info, &count, given, NULL, NULL) || count != 2 ||
      napi_get_value_double(env, given[0], &watches) || napi_get_value_double(env, given[1], &folder)) {
    napi_throw_error(env, NULL, "cordon-launch: watch takes an instance of inotify and an open folder");
    return NULL;
  }
  int outcome = watch_folder((int)watches, (int)folder);
  napi_create_int32(env, outcome < 0 ? -errno : outcome, &result);
  return result;
}

napi_value unwatch_changes(napi_env env, napi_callback_info info) {
  size_t count = 2;
  napi_value given[2];
  double watches, number;
  if (napi_get_cb_info(env, info, &count, given, NULL, NULL) || count != 2 ||
      napi_get_value_double(env, given[0], &watches) || napi_get_value_double(env, given[1], &number)) {
    napi_throw_error(env, NULL, "cordon-launch: unwatch takes an instance of inotify and a watch");
    return NULL;
  }
  inotify_rm_watch((int)watches, (int)number); /* already gone: the same result */
  return NULL;
}

napi_value lock_file(napi_env env, napi_callback_info info) {
  double fd;
  napi_value result;
  if (!takes_number(env, info, &fd)) {
    napi_throw_error(env, NULL, "cordon-launch: lock takes an open file");
    return NULL;
  }
  napi_create_int32(env, flock((int)fd, LOCK_EX | LOCK_NB) ? errno : 0, &result);
  return result;
}

napi_value ask_attributes(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value given, result;
  const char *path;
  if (napi_get_cb_info(env, info, &count, &given, NULL, NULL) || count != 1 ||
      !takes_path(env, given, &path)) {
    napi_throw_error(env, NULL, "cordon-launch: has_attributes takes a path that ends in NUL");
    return NULL;
  }
  napi_create_int32(env, has_attributes(path), &result);
  return result;
}

napi_value give_attributes(napi_env env, napi_callback_info info) {
  size_t count = 2;
  napi_value given[2], result;
  const char *from, *to;
  if (napi_get_cb_info(env, info, &count, given, NULL, NULL) || count != 2 ||
      !takes_path(env, given[0], &from) || !takes_path(env, given[1], &to)) {
    napi_throw_error(env, NULL, "cordon-launch: attributes takes two paths that end in NUL");
    return NULL;
  }
  napi_create_int32(env, copy_attributes(from, to) ? errno : 0, &result);
  return result;
}
