/* Inodes that this call made, or that need no keeping any more. Open addressing; the key of an empty place is 0. */
#include "door.h"
#include <stdlib.h>

#define MAX_SEEN (4u << 20)

struct seen_inode {
  uint64_t inode;
  uint32_t device;
  uint32_t number; /* of the kept file that it is now, if it is gone */
  uint8_t how;
};

static struct seen_inode *table;
static size_t capacity, used;

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

int seen(const struct stat *about) {
  return capacity ? table[slot_of(table, capacity, about->st_ino, (uint32_t)about->st_dev)].how : 0;
}

/* Where there is no room for more, an inode counts as never seen: it is kept once too often. */
void see(const struct stat *about, int how) {
  if (!has_journal() || (used * 2 >= capacity && grow())) return;
  struct seen_inode *at = &table[slot_of(table, capacity, about->st_ino, (uint32_t)about->st_dev)];
  if (!at->inode) used++;
  at->inode = about->st_ino;
  at->device = (uint32_t)about->st_dev;
  at->how |= (uint8_t)how;
}

/* The number of an inode that is gone may come again, for a file of somebody else. */
void forget(const struct stat *about) {
  if (capacity) table[slot_of(table, capacity, about->st_ino, (uint32_t)about->st_dev)].how = 0;
}

/* Its last name is that of the kept file. */
void see_gone(const struct stat *about, uint32_t number) {
  see(about, SEEN_GONE);
  if (seen(about) & SEEN_GONE) table[slot_of(table, capacity, about->st_ino, (uint32_t)about->st_dev)].number = number;
}

uint32_t gone_number(const struct stat *about) {
  return table[slot_of(table, capacity, about->st_ino, (uint32_t)about->st_dev)].number;
}
