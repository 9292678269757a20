/* What the sandbox shows of the machine: masks instead of secrets, pins over what must stay as it is, and who opened a mask. */
#define _GNU_SOURCE
#include "init.h"
#include "../bare/bare.h"
#include "../broker/broker.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STAGE "/dev/shm"

void make_readonly(const char *path, int recursive) {
  struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
  /* mount_setattr adds one flag and keeps the others; a bind remount would have to repeat flags that are locked. */
  if (syscall(SYS_mount_setattr, AT_FDCWD, path, recursive ? AT_RECURSIVE : 0, &attr, sizeof attr)) fail(STEP_READONLY);
}

/* Orders name canonical paths: a symlink on the way means that the tree was changed after it was checked. */
int open_place(const char *path) {
  struct open_how how = {.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW, .resolve = RESOLVE_NO_SYMLINKS};
  return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
}

/*
 * True for a place behind a directory of somebody else that this user cannot pass: neither can the command, which has
 * the same user and no more rights. A closed directory of the user's own does not count: the command could open it.
 */
int is_out_of_reach(const char *path) {
  char at[4096];
  struct stat about;
  size_t length = strlen(path);
  if (errno != EACCES || length >= sizeof at) return 0;
  memcpy(at, path, length + 1);
  while (lstat(at, &about) && errno == EACCES) {
    char *slash = strrchr(at, '/');
    if (slash == at) return 0;
    *slash = 0;
  }
  int closed_by_other = lstat(at, &about) == 0 && about.st_uid != geteuid();
  errno = EACCES;
  return closed_by_other;
}

/* bubblewrap binds by name and follows links: a name that was moved in the meantime shows something else, or shows it no longer. */
void check_bound(void) {
  for (size_t i = 0; i < orders.bound_count; i++) {
    const struct place *p = &orders.bound[i];
    struct stat found;
    if (lstat(p->path, &found)) {
      if (is_out_of_reach(p->path)) continue;
      fail_at(STEP_PLACE, (uint32_t)i);
    }
    /* Where bubblewrap shows nothing, what was checked may have been a link already. */
    int place = bare_is_on() ? open_place(p->path) : -1;
    int good = found.st_dev == p->device && found.st_ino == p->inode && (!bare_is_on() || (place >= 0 && !S_ISLNK(found.st_mode)));
    if (place >= 0) close(place);
    if (good) continue;
    errno = ESTALE;
    fail_at(STEP_PLACE, (uint32_t)i);
  }
}

static void attach(int tree, int place, enum step step, uint32_t index) {
  if (syscall(SYS_move_mount, tree, "", place, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH)) fail_at(step, index);
  close(tree);
  close(place);
}

/* Every change goes through the broker, which keeps in place what is only to stay there: mounts would part what is one. */
static int is_brokers(const struct place *p) {
  return p->kind == 'p' && !(p->flags & 1) && broker_is_on();
}

static void pin(const struct place *p) {
  if (is_brokers(p)) return;
  int place = open_place(p->path);
  if (place < 0 && is_out_of_reach(p->path)) return;
  if (place < 0) fail_at(STEP_PIN, p->index);
  int tree = (int)syscall(SYS_open_tree, place, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE);
  if (tree < 0) fail_at(STEP_PIN, p->index);
  struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
  if ((p->flags & 1) && syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof attr))
    fail_at(STEP_PIN, p->index);
  attach(tree, place, STEP_PIN, p->index);
}

/*
 * Every mask is an empty file or directory of its own in a private tmpfs. One watch on the tmpfs's root sees an open
 * of any of them, with its name, because an inotify event goes to the directory that holds the opened name. They can
 * be opened (0444): an open that fails makes no event.
 */
static dev_t stage_device;

int mask_all(void) {
  if (orders.place_count == 0) return -1;
  int *targets = allocate(orders.place_count, sizeof(int));
  int stage = -1, watch = -1, watched = 0;
  int own = -1;
  if (orders.mask_count) {
    own = (int)syscall(SYS_open_tree, AT_FDCWD, STAGE, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (own < 0) fail(STEP_STAGE);
    if (mount("cordon", STAGE, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0755,size=0,nr_inodes=0")) fail(STEP_STAGE);
    stage = open(STAGE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat about;
    if (stage < 0 || fstat(stage, &about)) fail(STEP_STAGE);
    stage_device = about.st_dev;
    for (size_t i = 0; i < orders.place_count; i++) {
      struct place *p = &orders.places[i];
      targets[i] = -1;
      if (p->kind != 'm') continue;
      struct stat target;
      char name[16];
      /* The plan keeps masks out of masks, and pins keep names in place, so looking ahead of the binds is sound. */
      if (lstat(p->path, &target)) {
        int may_be_missing = (p->flags & 1) && errno == ENOENT;
        if (!may_be_missing && !is_out_of_reach(p->path)) fail_at(STEP_MASK, p->index);
        targets[i] = -2;
        continue;
      }
      watched |= !(p->flags & 2);
      snprintf(name, sizeof name, "%c%u", p->flags & 2 ? 'q' : 'm', p->index);
      if (S_ISDIR(target.st_mode)) {
        if (mkdirat(stage, name, 0555)) fail(STEP_STAGE);
      } else {
        /* What git would take for a change has its own face, or none that can be opened: an empty one could be committed. */
        mode_t mode = p->face_flags & 2 ? 0 : p->face_flags & 1 ? 0555 : 0444;
        int file = openat(stage, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);
        if (file < 0) fail(STEP_STAGE);
        for (uint32_t done = 0; done < p->face_length;) {
          ssize_t n = write(file, p->face + done, p->face_length - done);
          if (n <= 0) fail(STEP_STAGE);
          done += (uint32_t)n;
        }
        close(file);
      }
    }
    /* Without a watch the masks hold all the same; the parent reports it. */
    if (watched) watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (watch >= 0 && inotify_add_watch(watch, STAGE, IN_OPEN) < 0) {
      close(watch);
      watch = -1;
    }
    /* The superblock itself turns read-only, so that every bind of it is, at one call instead of thousands. */
    if (mount(NULL, STAGE, NULL, MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL)) fail(STEP_STAGE);
  }
  for (size_t i = 0; i < orders.place_count; i++) {
    struct place *p = &orders.places[i];
    if (p->kind == 'p') {
      pin(p);
      continue;
    }
    if (targets[i] == -2) continue;
    char name[16];
    int place = open_place(p->path);
    if (place < 0) fail_at(STEP_MASK, p->index);
    /* Another process may swap directories while this one starts, and a mask on a decoy leaves the secret open. */
    struct stat found;
    if ((p->flags & 4) && (fstat(place, &found) || found.st_dev != p->device || found.st_ino != p->inode)) {
      errno = ESTALE;
      fail_at(STEP_MASK, p->index);
    }
    snprintf(name, sizeof name, "%c%u", p->flags & 2 ? 'q' : 'm', p->index);
    int tree = (int)syscall(SYS_open_tree, stage, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (tree < 0) fail_at(STEP_MASK, p->index);
    attach(tree, place, STEP_MASK, p->index);
  }
  if (stage >= 0) {
    /* Covered by the sandbox's own, not unmounted: an unmount waits for the kernel's readers, half a millisecond. */
    int over = open(STAGE, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (over < 0) fail(STEP_STAGE);
    attach(own, over, STEP_STAGE, 0);
    close(stage);
  }
  free(targets);
  return watch;
}

/* What is at a place: by its mount, a mask is distinguished from the file that it hides. All zeros where nothing is, or it is out of reach. */
static void look_at(struct place *p) {
  struct statx found;
  int place = open_place(p->path);
  memset(&p->laid, 0, sizeof p->laid);
  if (place < 0 && (errno == ENOENT || is_out_of_reach(p->path))) return;
  if (place < 0 || syscall(SYS_statx, place, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, &found) || !(found.stx_mask & STATX_MNT_ID))
    fail_at(p->kind == 'm' ? STEP_MASK : STEP_PIN, p->index);
  p->laid.mount = found.stx_mnt_id;
  p->laid.device = (uint64_t)found.stx_dev_major << 32 | found.stx_dev_minor;
  p->laid.inode = found.stx_ino;
  close(place);
}

void note_places(void) {
  for (size_t i = 0; i < orders.place_count; i++)
    if (!is_brokers(&orders.places[i])) look_at(&orders.places[i]);
}

/*
 * After a wait: what the host removed or replaced meanwhile took its mask or pin along, and what it made in the place may have the same
 * number, so that no one who looks from outside can tell.
 */
void check_places(void) {
  check_bound();
  for (size_t i = 0; i < orders.place_count; i++) {
    struct place *p = &orders.places[i], before = *p;
    if (is_brokers(p)) continue;
    look_at(p);
    if (!memcmp(&before.laid, &p->laid, sizeof p->laid)) continue;
    errno = ESTALE;
    fail_at(p->kind == 'm' ? STEP_MASK : STEP_PIN, p->index);
  }
}

static struct place **masks; /* by index */

void index_masks(void) {
  masks = allocate(orders.mask_count + 1, sizeof *masks);
  for (size_t i = 0; i < orders.place_count; i++)
    if (orders.places[i].kind == 'm') masks[orders.places[i].index] = &orders.places[i];
}

int has_watched_masks(void) {
  for (size_t i = 0; i < orders.mask_count; i++)
    if (!(masks[i]->flags & 2)) return 1;
  return 0;
}

void report_opens(int watch) {
  char buffer[8192] __attribute__((aligned(__alignof__(struct inotify_event))));
  ssize_t n;
  while ((n = read(watch, buffer, sizeof buffer)) > 0) {
    for (char *at = buffer; at < buffer + n;) {
      struct inotify_event *event = (struct inotify_event *)at;
      at += sizeof *event + event->len;
      if (event->len == 0 || event->name[0] != 'm') continue;
      unsigned long index = strtoul(event->name + 1, NULL, 10);
      if (index >= orders.mask_count || (masks[index]->reported & 1)) continue;
      masks[index]->reported |= 1; /* once each: a search of the whole tree opens them over and over */
      tell('V', (uint32_t)index, 0, 0);
    }
  }
}

/* Nothing in here can change a mount, so a change means that the host replaced a masked file and its mask went with it. */
void report_lifted(void) {
  for (size_t i = 0; i < orders.place_count; i++) {
    struct place *p = &orders.places[i];
    struct stat now;
    /* Gone, or moved by the command together with its mask, shows nothing; something else in its place does. */
    if (p->kind != 'm' || (p->flags & 3) || (p->reported & 2) || lstat(p->path, &now) || now.st_dev == stage_device) continue;
    p->reported |= 2;
    tell('V', p->index, 1, 0);
  }
}
