/* Inodes that this call created, that need no more keeping, or whose names it created. Open
 * addressing; key 0 is empty. */
#define _GNU_SOURCE
#include "broker.h"
#include <fcntl.h>
#include <stdlib.h>

#define MAX_SEEN (4u << 20)

struct seen_inode {
  uint64_t inode;
  int64_t born; /* in nanoseconds; another user's file may reuse the inode number */
  uint32_t device;
  uint32_t number; /* the kept file that it is now, if removed */
  uint32_t links; /* the names that this call knows of, if counted */
  uint8_t how;
};

static struct seen_inode *table;
static size_t capacity, used;

static int64_t birth_of(const struct stat *about) {
  return (int64_t)about->st_born.tv_sec * 1000000000 + about->st_born.tv_nsec;
}

static size_t slot_of(const struct seen_inode *in, size_t size, uint64_t inode, uint32_t device) {
  size_t at = (size_t)((inode * 0x9e3779b97f4a7c15u) >> 20 ^ device) & (size - 1);
  while (in[at].inode && (in[at].inode != inode || in[at].device != device)) at = (at + 1) & (size - 1);
  return at;
}

static int grow(void) {
  size_t size = capacity ? capacity * 2 : 1024;
  if (size > 2 * MAX_SEEN) return -1;
  struct seen_inode *grown = calloc(size, sizeof *grown);
  if (!grown) return -1;
  used = 0;
  for (size_t i = 0; i < capacity; i++)
    if (table[i].inode && table[i].how) {
      grown[slot_of(grown, size, table[i].inode, table[i].device)] = table[i];
      used++;
    }
  free(table);
  table = grown;
  capacity = size;
  return 0;
}

static struct seen_inode *find(const struct stat *about) {
  struct seen_inode *at = capacity ? &table[slot_of(table, capacity, about->st_ino, (uint32_t)about->st_dev)]
                                   : NULL;
  return at && at->inode && at->born == birth_of(about) ? at : NULL;
}

/* NULL if the table is full: the inode then counts as unseen, and is kept or copied once too often. */
static struct seen_inode *find_or_add(const struct stat *about) {
  if (used * 2 >= capacity && grow()) return NULL;
  struct seen_inode *at = &table[slot_of(table, capacity, about->st_ino, (uint32_t)about->st_dev)];
  if (!at->inode) used++;
  if (!at->inode || at->born != birth_of(about))
    *at = (struct seen_inode){
        .inode = about->st_ino, .device = (uint32_t)about->st_dev, .born = birth_of(about)};
  return at;
}

int seen(const struct stat *about) {
  const struct seen_inode *at = find(about);
  return at ? at->how : 0;
}

/* A file that the call has just created. */
void see_made(int folder, const char *name) {
  struct stat created;
  uint64_t mount;
  if (look_by_name(folder, name, *name ? AT_SYMLINK_NOFOLLOW : AT_EMPTY_PATH, &created, &mount)) return;
  see(&created, SEEN_MADE);
  count_links(&created);
}

/* Without a birth time an inode number proves nothing: another program's new file must not count as
 * the call's. */
void see(const struct stat *about, int how) {
  struct seen_inode *at = find_or_add(about);
  if (at) at->how |= (uint8_t)(at->born ? how : how & ~SEEN_MADE);
}

void forget(const struct stat *about) {
  struct seen_inode *at = find(about);
  if (at) at->how = 0;
}

/* Its last name is that of the kept file. */
void see_gone(const struct stat *about, uint32_t number) {
  struct seen_inode *at = find_or_add(about);
  if (at) at->how |= SEEN_GONE, at->number = number;
}

uint32_t gone_number(const struct stat *about) {
  const struct seen_inode *at = find(about);
  return at ? at->number : 0;
}

/* Whether a file has a name that this call did not create. It may be anywhere: in another project,
 * or in a package store. Only names created here, and the one that was resolved, are known to be
 * inside; finding the others would need a search of all roots. */
int is_shared(const struct spot *s) {
  if (S_ISDIR(s->about.st_mode)) return 0;
  const struct seen_inode *at = find(&s->about);
  uint32_t known = s->is_nameless ? 0 : 1;
  if (at && at->born && (at->how & SEEN_COUNTED)) known = at->links;
  return s->about.st_nlink > known;
}

void count_links(const struct stat *about) {
  struct seen_inode *at = find_or_add(about);
  if (!at) return;
  at->how |= SEEN_COUNTED;
  at->links = (uint32_t)about->st_nlink;
}

void lose_link(const struct stat *about) {
  struct seen_inode *at = find(about);
  if (at && at->links) at->links--;
}
