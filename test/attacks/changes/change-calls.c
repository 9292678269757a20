/*
 * Every way to change a file, each on its own file:
 *   change-calls names              prints their names
 *   change-calls dress FILE...      gives each file an attribute that can be changed
 *   change-calls look FILE...       prints what each file is: mode, group, time, attribute, content
 *   change-calls change FOLDER      changes FOLDER/NAME/f for each name, and prints the name with the error, or 0
 *   change-calls flip FOLDER COUNT  changes the mode of FOLDER/own by path and by descriptor so many times, while another thread turns
 *                                   both into FOLDER/f
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#define KEY "user.cordon"
#define EVIL "evil"

static const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 2000}};
static const struct timeval old_times[2] = {{.tv_sec = 1000}, {.tv_sec = 2000}};
static char beside[4096], link_path[64];

/* A name beside the file. */
static const char *near(const char *p, const char *name) {
  snprintf(beside, sizeof beside, "%.*s%s", (int)(strrchr(p, '/') + 1 - p), p, name);
  return beside;
}

static const char *magic(int fd) {
  snprintf(link_path, sizeof link_path, "/proc/self/fd/%d", fd);
  return link_path;
}

static long put(int fd) { return fd < 0 ? -1 : write(fd, EVIL, 4) == 4 && close(fd) == 0 ? 0 : -1; }
static int reading(const char *p) { return open(p, O_RDONLY); }
static int evil_file(const char *p) {
  int fd = open(near(p, "evil"), O_RDWR | O_CREAT | O_TRUNC, 0644);
  if (fd >= 0 && pwrite(fd, EVIL, 4, 0) != 4) return -1;
  return fd;
}

#define WAY(name) static long way_##name(const char *p)
WAY(write) { return put(open(p, O_WRONLY)); }
WAY(read_write) { return put(open(p, O_RDWR)); }
WAY(append) { return put(open(p, O_WRONLY | O_APPEND)); }
WAY(creat) { return put(creat(p, 0644)); }
WAY(open_create) { return put(open(p, O_WRONLY | O_CREAT, 0644)); }
WAY(open_truncate) { return put(open(p, O_WRONLY | O_TRUNC)); }
WAY(truncate_reading) { return open(p, O_RDONLY | O_TRUNC) < 0; }
WAY(openat) {
  int folder = open(near(p, ""), O_PATH | O_DIRECTORY);
  return put(openat(folder, "f", O_WRONLY));
}
WAY(pwritev) {
  struct iovec part = {.iov_base = EVIL, .iov_len = 4};
  return pwritev(open(p, O_WRONLY), &part, 1, 1) != 4;
}
WAY(mapping) {
  char *map = mmap(NULL, 4, PROT_READ | PROT_WRITE, MAP_SHARED, open(p, O_RDWR), 0);
  if (map == MAP_FAILED) return -1;
  memcpy(map, EVIL, 4);
  return msync(map, 4, MS_SYNC);
}
WAY(copy_file_range) {
  loff_t from = 0;
  return copy_file_range(evil_file(p), &from, open(p, O_WRONLY), NULL, 4, 0) != 4;
}
WAY(sendfile) {
  off_t from = 0;
  return sendfile(open(p, O_WRONLY), evil_file(p), &from, 4) != 4;
}
WAY(splice) {
  int ends[2];
  if (pipe(ends) || write(ends[1], EVIL, 4) != 4) return -1;
  return splice(ends[0], NULL, open(p, O_WRONLY), NULL, 4, 0) != 4;
}
WAY(clone) {
  int fd = open(p, O_WRONLY);
  /* Not every file system can: then it is an ordinary write. */
  return fd < 0 ? -1 : ioctl(fd, FICLONE, evil_file(p)) ? put(fd) : 0;
}
WAY(fallocate) { return fallocate(open(p, O_WRONLY), FALLOC_FL_ZERO_RANGE, 0, 2) && fallocate(open(p, O_WRONLY), 0, 0, 8192); }
WAY(truncate) { return truncate(p, 1); }
WAY(truncate_longer) { return truncate(p, 8192); }
WAY(ftruncate) { return ftruncate(open(p, O_WRONLY), 1); }
WAY(by_link) { return symlink("f", near(p, "s")) || put(open(beside, O_WRONLY)); }
WAY(by_new_name) { return link(p, near(p, "n")) || put(open(beside, O_WRONLY)); }
WAY(moved) { return rename(p, near(p, "n")) || put(open(beside, O_WRONLY)); }
WAY(moved_and_back) { return rename(p, near(p, "n")) || rename(beside, p) || put(open(p, O_WRONLY)); }
WAY(folder_moved) {
  char folder[4096], moved[4200];
  snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(p, '/') - p), p);
  snprintf(moved, sizeof moved, "%s-moved/f", folder);
  *strrchr(moved, '/') = 0;
  int fd = rename(folder, moved) ? -1 : open(strcat(moved, "/f"), O_WRONLY);
  *strrchr(moved, '/') = 0;
  return put(fd) || rename(moved, folder);
}
WAY(exchanged) {
  close(evil_file(p));
  return syscall(SYS_renameat2, AT_FDCWD, p, AT_FDCWD, beside, RENAME_EXCHANGE) || put(open(beside, O_WRONLY));
}
WAY(reopened) { return put(open(magic(reading(p)), O_WRONLY)); }
WAY(reopened_truncated) { return put(open(magic(reading(p)), O_WRONLY | O_TRUNC)); }
WAY(reopened_path) { return put(open(magic(open(p, O_PATH)), O_WRONLY)); }
WAY(reopened_removed) {
  int fd = reading(p);
  return unlink(p) || put(open(magic(fd), O_WRONLY));
}
WAY(truncate_by_descriptor) { return truncate(magic(reading(p)), 1); }
WAY(linked_by_descriptor) { return linkat(AT_FDCWD, magic(reading(p)), AT_FDCWD, near(p, "n"), AT_SYMLINK_FOLLOW) || put(open(beside, O_WRONLY)); }

WAY(fchmod) { return fchmod(reading(p), 0777); }
WAY(fchmodat) { return fchmodat(AT_FDCWD, p, 0777, 0); }
WAY(fchmodat2) { return syscall(452, AT_FDCWD, p, 0777, AT_SYMLINK_NOFOLLOW); }
WAY(fchmodat2_empty) { return syscall(452, open(p, O_PATH), "", 0777, AT_EMPTY_PATH); }
WAY(chmod_by_descriptor) { return chmod(magic(open(p, O_PATH)), 0777); }
WAY(chmod_by_link) { return symlink("f", near(p, "s")) || fchmodat(AT_FDCWD, beside, 0777, 0); }
WAY(fchmod_removed) {
  int fd = reading(p);
  return unlink(p) || fchmod(fd, 0777);
}
WAY(fchmod_replaced) {
  int fd = reading(p);
  close(evil_file(p));
  return rename(beside, p) || fchmod(fd, 0777);
}
/* With the ids that it has, a change of owner still takes the setgid bit away. */
WAY(fchown) { return fchown(reading(p), getuid(), getgid()); }
WAY(fchownat) { return fchownat(AT_FDCWD, p, getuid(), getgid(), 0); }
WAY(fchownat_empty) { return fchownat(open(p, O_PATH), "", getuid(), getgid(), AT_EMPTY_PATH); }
WAY(utimensat) { return utimensat(AT_FDCWD, p, times, 0); }
WAY(utimensat_nofollow) { return utimensat(AT_FDCWD, p, times, AT_SYMLINK_NOFOLLOW); }
WAY(utimensat_now) { return utimensat(AT_FDCWD, p, NULL, 0); }
WAY(utimensat_empty) { return syscall(SYS_utimensat, open(p, O_PATH), "", times, AT_EMPTY_PATH); }
WAY(futimens) { return futimens(reading(p), times); }
WAY(setxattr) { return setxattr(p, KEY, EVIL, 4, 0); }
WAY(lsetxattr) { return lsetxattr(p, KEY, EVIL, 4, 0); }
WAY(fsetxattr) { return fsetxattr(reading(p), KEY, EVIL, 4, 0); }
WAY(removexattr) { return removexattr(p, KEY); }
WAY(lremovexattr) { return lremovexattr(p, KEY); }
WAY(fremovexattr) { return fremovexattr(reading(p), KEY); }
WAY(attribute_by_descriptor) { return setxattr(magic(reading(p)), KEY, EVIL, 4, 0); }
#ifdef SYS_open /* the calls without a directory: only the older architecture has them */
WAY(old_open) { return put((int)syscall(SYS_open, p, O_WRONLY)); }
WAY(old_creat) { return put((int)syscall(SYS_creat, p, 0644)); }
WAY(chmod) { return syscall(SYS_chmod, p, 0777); }
WAY(chown) { return syscall(SYS_chown, p, getuid(), getgid()); }
WAY(lchown) { return syscall(SYS_lchown, p, getuid(), getgid()); }
WAY(utime) {
  const struct utimbuf when = {.actime = 1000, .modtime = 2000};
  return syscall(SYS_utime, p, &when);
}
WAY(utimes) { return syscall(SYS_utimes, p, old_times); }
WAY(futimesat) { return syscall(SYS_futimesat, AT_FDCWD, p, old_times); }
#endif

#define ROW(name) {#name, way_##name}
static const struct { const char *name; long (*way)(const char *); } ways[] = {
    ROW(write), ROW(read_write), ROW(append), ROW(creat), ROW(open_create), ROW(open_truncate), ROW(truncate_reading), ROW(openat),
    ROW(pwritev), ROW(mapping), ROW(copy_file_range), ROW(sendfile), ROW(splice), ROW(clone), ROW(fallocate),
    ROW(truncate), ROW(truncate_longer), ROW(ftruncate), ROW(by_link), ROW(by_new_name), ROW(moved), ROW(moved_and_back),
    ROW(folder_moved), ROW(exchanged), ROW(reopened), ROW(reopened_truncated), ROW(reopened_path), ROW(reopened_removed),
    ROW(truncate_by_descriptor), ROW(linked_by_descriptor), ROW(fchmod), ROW(fchmodat), ROW(fchmodat2), ROW(fchmodat2_empty),
    ROW(chmod_by_descriptor), ROW(chmod_by_link), ROW(fchmod_removed), ROW(fchmod_replaced), ROW(fchown), ROW(fchownat),
    ROW(fchownat_empty), ROW(utimensat), ROW(utimensat_nofollow), ROW(utimensat_now), ROW(utimensat_empty), ROW(futimens), ROW(setxattr),
    ROW(lsetxattr), ROW(fsetxattr), ROW(removexattr), ROW(lremovexattr), ROW(fremovexattr), ROW(attribute_by_descriptor),
#ifdef SYS_open
    ROW(old_open), ROW(old_creat), ROW(chmod), ROW(chown), ROW(lchown), ROW(utime), ROW(utimes), ROW(futimesat),
#endif
};
#define COUNT (sizeof ways / sizeof *ways)

static void look(const char *p) {
  struct stat about;
  char attribute[64] = "", text[64] = "";
  if (stat(p, &about)) {
    printf("%s gone\n", p);
    return;
  }
  if (getxattr(p, KEY, attribute, sizeof attribute - 1) < 0) strcpy(attribute, "-");
  int fd = open(p, O_RDONLY);
  if (fd >= 0 && read(fd, text, sizeof text - 1) < 0) strcpy(text, "?");
  close(fd);
  printf("%s %o %u %lld %lld.%09ld %s %s\n", p, about.st_mode, about.st_gid, (long long)about.st_size, (long long)about.st_mtim.tv_sec, about.st_mtim.tv_nsec, attribute, text);
}

static volatile int over;
static char flipped[4096];
static int flipped_fd;
static const char *folder;

static void *flip(void *unused) {
  char own[4096], shared[4096];
  (void)unused;
  snprintf(own, sizeof own, "%s/own", folder);
  snprintf(shared, sizeof shared, "%s/f", folder);
  int fds[2] = {open(own, O_RDONLY), open(shared, O_RDONLY)};
  while (!over) {
    strcpy(flipped, shared);
    dup2(fds[1], flipped_fd);
    strcpy(flipped, own);
    dup2(fds[0], flipped_fd);
  }
  return NULL;
}

static int flip_all(long count) {
  pthread_t thread;
  snprintf(flipped, sizeof flipped, "%s/own", folder);
  flipped_fd = open(flipped, O_RDONLY);
  if (flipped_fd < 0 || pthread_create(&thread, NULL, flip, NULL)) return 1;
  for (long i = 0; i < count; i++) {
    syscall(SYS_fchmodat, AT_FDCWD, flipped, 0777);
    fchmod(flipped_fd, 0777);
    syscall(SYS_fchmodat, AT_FDCWD, flipped, 0644);
  }
  over = 1;
  return pthread_join(thread, NULL);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  for (size_t i = 0; !strcmp(what, "names") && i < COUNT; i++) puts(ways[i].name);
  for (int i = 2; !strcmp(what, "dress") && i < argc; i++)
    if (setxattr(argv[i], KEY, "mine", 4, 0)) return 1;
  for (int i = 2; !strcmp(what, "look") && i < argc; i++) look(argv[i]);
  if (!strcmp(what, "flip") && argc > 3) {
    folder = argv[2];
    return flip_all(atol(argv[3]));
  }
  for (size_t i = 0; !strcmp(what, "change") && argc > 2 && i < COUNT; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s/f", argv[2], ways[i].name);
    errno = 0;
    long bad = ways[i].way(path);
    printf("%s %d\n", ways[i].name, bad ? errno : 0);
  }
  return 0;
}
