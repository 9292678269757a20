/* Mounts masks over secrets and pins over protected paths, and reports opened masks. */
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
  /* mount_setattr adds one flag and keeps the others; a bind remount must repeat locked flags. */
  if (syscall(SYS_mount_setattr, AT_FDCWD, path, recursive ? AT_RECURSIVE : 0, &attr, sizeof attr))
    fail(STEP_READONLY);
}

/* The setup message has canonical paths: a symlink means that the tree changed after the check. */
int open_place(const char *path) {
  struct open_how how = {.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW, .resolve = RESOLVE_NO_SYMLINKS};
  return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
}

/* Whether another user's directory bars this user from the place: then the command cannot pass
 * either, with the same user and no more rights. The user's own closed directory does not count:
 * the command could open it. */
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

/* bubblewrap binds by name and follows links: after a move the name shows something else, or
 * nothing. */
void check_bound(void) {
  for (size_t i = 0; i < setup.bound_count; i++) {
    const struct place *p = &setup.bound[i];
    struct stat found;
    if (lstat(p->path, &found)) {
      if (is_out_of_reach(p->path)) continue;
      fail_at(STEP_PLACE, (uint32_t)i);
    }
    /* Without a mount, the checked object may have been a link already. */
    int place = bare_is_on() ? open_place(p->path) : -1;
    int good = found.st_dev == p->device && found.st_ino == p->inode &&
               (!bare_is_on() || (place >= 0 && !S_ISLNK(found.st_mode)));
    if (place >= 0) close(place);
    if (good) continue;
    errno = ESTALE;
    fail_at(STEP_PLACE, (uint32_t)i);
  }
}

static void attach(int tree, int place, enum step step, uint32_t index) {
  if (syscall(SYS_move_mount, tree, "", place, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH))
    fail_at(step, index);
  close(tree);
  close(place);
}

/* The broker performs every change, so it keeps this object in place: a mount would split the tree
 * into two. */
static int is_brokers(const struct place *p) {
  return p->kind == RECORD_PIN && !(p->flags & PIN_READONLY) && broker_is_on();
}

static void pin(const struct place *p) {
  if (is_brokers(p)) return;
  int place = open_place(p->path);
  if (place < 0 && is_out_of_reach(p->path)) return;
  if (place < 0) fail_at(STEP_PIN, p->index);
  int tree = (int)syscall(SYS_open_tree, place, "",
                          OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE);
  if (tree < 0) fail_at(STEP_PIN, p->index);
  struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
  if ((p->flags & PIN_READONLY) &&
      syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof attr))
    fail_at(STEP_PIN, p->index);
  attach(tree, place, STEP_PIN, p->index);
}

/* Each mask is an empty file or directory in a private tmpfs. One watch on the tmpfs's root reports
 * each open by name, because an inotify event also goes to the directory of the opened file. Masks
 * are readable (0444): a failed open makes no event. */
static dev_t stage_device;

int mask_all(void) {
  if (setup.place_count == 0) return -1;
  int *targets = allocate(setup.place_count, sizeof(int));
  int stage = -1, watch = -1, watched = 0;
  int own = -1;
  if (setup.mask_count) {
    own = (int)syscall(SYS_open_tree, AT_FDCWD, STAGE, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (own < 0) fail(STEP_STAGE);
    if (mount("cordon", STAGE, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0755,size=0,nr_inodes=0"))
      fail(STEP_STAGE);
    stage = open(STAGE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat about;
    if (stage < 0 || fstat(stage, &about)) fail(STEP_STAGE);
    stage_device = about.st_dev;
    for (size_t i = 0; i < setup.place_count; i++) {
      struct place *p = &setup.places[i];
      targets[i] = -1;
      if (p->kind != RECORD_MASK) continue;
      struct stat target;
      char name[16];
      /* The plan never nests masks, and pins keep names in place, so the check may come before the
       * binds. */
      if (lstat(p->path, &target)) {
        int may_be_missing = (p->flags & MASK_OPTIONAL) && errno == ENOENT;
        if (!may_be_missing && !is_out_of_reach(p->path)) fail_at(STEP_MASK, p->index);
        targets[i] = -2;
        continue;
      }
      watched |= !(p->flags & MASK_UNWATCHED);
      snprintf(name, sizeof name, "%c%u", p->flags & MASK_UNWATCHED ? 'q' : 'm', p->index);
      if (S_ISDIR(target.st_mode)) {
        if (mkdirat(stage, name, 0555)) fail(STEP_STAGE);
      } else {
        /* A file that git would report as changed has a face, or cannot be opened: an empty one
         * could be committed. */
        mode_t mode = p->face_flags & FACE_CLOSED ? 0 : p->face_flags & FACE_EXECUTABLE ? 0555 : 0444;
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
    /* Masks work without a watch; the parent reports it. */
    if (watched) watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (watch >= 0 && inotify_add_watch(watch, STAGE, IN_OPEN) < 0) {
      close(watch);
      watch = -1;
    }
    /* Remounts the superblock itself read-only, and so every bind of it: one call instead of
     * thousands. */
    if (mount(NULL, STAGE, NULL, MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL))
      fail(STEP_STAGE);
  }
  for (size_t i = 0; i < setup.place_count; i++) {
    struct place *p = &setup.places[i];
    if (p->kind == RECORD_PIN) {
      pin(p);
      continue;
    }
    if (targets[i] == -2) continue;
    char name[16];
    int place = open_place(p->path);
    if (place < 0) fail_at(STEP_MASK, p->index);
    /* A swapped directory could leave the mask on a decoy and the secret visible. */
    struct stat found;
    if ((p->flags & MASK_EXACT) &&
        (fstat(place, &found) || found.st_dev != p->device || found.st_ino != p->inode)) {
      errno = ESTALE;
      fail_at(STEP_MASK, p->index);
    }
    snprintf(name, sizeof name, "%c%u", p->flags & MASK_UNWATCHED ? 'q' : 'm', p->index);
    int tree = (int)syscall(SYS_open_tree, stage, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (tree < 0) fail_at(STEP_MASK, p->index);
    attach(tree, place, STEP_MASK, p->index);
  }
  if (stage >= 0) {
    /* Covered, not unmounted: an unmount waits half a millisecond for the kernel's readers. */
    int over = open(STAGE, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (over < 0) fail(STEP_STAGE);
    attach(own, over, STEP_STAGE, 0);
    close(stage);
  }
  free(targets);
  return watch;
}

/* Records the object at a place by its mount, which distinguishes a mask from its file. All zeros
 * if absent or out of reach. */
static void record_place(struct place *p) {
  struct statx found;
  int place = open_place(p->path);
  memset(&p->mounted, 0, sizeof p->mounted);
  if (place < 0 && (errno == ENOENT || is_out_of_reach(p->path))) return;
  if (place < 0 || syscall(SYS_statx, place, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, &found) ||
      !(found.stx_mask & STATX_MNT_ID))
    fail_at(p->kind == RECORD_MASK ? STEP_MASK : STEP_PIN, p->index);
  p->mounted.mount = found.stx_mnt_id;
  p->mounted.device = (uint64_t)found.stx_dev_major << 32 | found.stx_dev_minor;
  p->mounted.inode = found.stx_ino;
  close(place);
}

void note_places(void) {
  for (size_t i = 0; i < setup.place_count; i++)
    if (!is_brokers(&setup.places[i])) record_place(&setup.places[i]);
}

/* Checks again after a wait: a file that the host replaced took its mask or pin along. The new file
 * may have the same inode number, so it cannot be noticed from outside. */
void check_places(void) {
  check_bound();
  for (size_t i = 0; i < setup.place_count; i++) {
    struct place *p = &setup.places[i], before = *p;
    if (is_brokers(p)) continue;
    record_place(p);
    if (!memcmp(&before.mounted, &p->mounted, sizeof p->mounted)) continue;
    errno = ESTALE;
    fail_at(p->kind == RECORD_MASK ? STEP_MASK : STEP_PIN, p->index);
  }
}

static struct place **masks; /* by index */

void index_masks(void) {
  masks = allocate(setup.mask_count + 1, sizeof *masks);
  for (size_t i = 0; i < setup.place_count; i++)
    if (setup.places[i].kind == RECORD_MASK) masks[setup.places[i].index] = &setup.places[i];
}

int has_watched_masks(void) {
  for (size_t i = 0; i < setup.mask_count; i++)
    if (!(masks[i]->flags & MASK_UNWATCHED)) return 1;
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
      if (index >= setup.mask_count || (masks[index]->reported & 1)) continue;
      masks[index]->reported |= 1; /* once each: a search of the tree opens them repeatedly */
      send_message(MESSAGE_MASK, (uint32_t)index, 0, 0);
    }
  }
}

/* Mounts cannot be changed inside, so a change means that the host replaced a masked file, which
 * removed the mask. */
void report_lifted(void) {
  for (size_t i = 0; i < setup.place_count; i++) {
    struct place *p = &setup.places[i];
    struct stat now;
    /* A missing file, or one that the command moved with its mask, shows nothing; another object
     * there does. */
    if (p->kind != RECORD_MASK || (p->flags & (MASK_OPTIONAL | MASK_UNWATCHED)) || (p->reported & 2) ||
        lstat(p->path, &now) || now.st_dev == stage_device)
      continue;
    p->reported |= 2;
    send_message(MESSAGE_MASK, p->index, 1, 0);
  }
}
