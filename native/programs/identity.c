/* Recognises listed programs under other names. A link is the same file. A copy has the same build
 * ID (which appended data does not change) or, without one, the same bytes. */
#define _GNU_SOURCE
#include "programs.h"
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HEAD_BYTES 4096
#define ID_BYTES 64
#define SEEN 256
#define MAX_COMPARED (64 << 20)
#define SETTLED_SECONDS 2

struct known {
  const char *path, *name;
  int is_there;
  struct stat about;
  uint8_t id[ID_BYTES];
  size_t id_length;
};
static struct known *known;
static size_t known_count;
static int asks_for_files;
const char ASKED_FILE[] = "";

int add_identity(const char *path, const char *name) {
  struct known *grown = realloc(known, (known_count + 1) * sizeof *grown);
  if (!grown) return -1;
  known = grown;
  known[known_count++] = (struct known){.path = path, .name = name};
  asks_for_files |= name == ASKED_FILE;
  return 0;
}

/* Finds the build ID in the notes of an ELF file, in its first page; returns its length, 0 without
 * one. */
static size_t build_id(int fd, uint8_t into[ID_BYTES]) {
  static _Alignas(8) uint8_t head[HEAD_BYTES];
  ssize_t n = pread(fd, head, sizeof head, 0);
  const Elf64_Ehdr *elf = (const void *)head;
  if (n < (ssize_t)sizeof *elf || memcmp(elf->e_ident, ELFMAG, SELFMAG) ||
      elf->e_ident[EI_CLASS] != ELFCLASS64)
    return 0;
  for (size_t i = 0; i < elf->e_phnum; i++) {
    Elf64_Phdr part;
    if (elf->e_phentsize != sizeof part || elf->e_phoff > (size_t)n ||
        (i + 1) * sizeof part > (size_t)n - elf->e_phoff)
      return 0;
    memcpy(&part, head + elf->e_phoff + i * sizeof part, sizeof part);
    if (part.p_type != PT_NOTE || part.p_offset > (size_t)n || part.p_filesz > (size_t)n - part.p_offset)
      continue;
    for (size_t at = part.p_offset, end = at + part.p_filesz; at + sizeof(Elf64_Nhdr) <= end;) {
      Elf64_Nhdr note;
      memcpy(&note, head + at, sizeof note);
      if (note.n_namesz > HEAD_BYTES || note.n_descsz > HEAD_BYTES) break;
      size_t name = at + sizeof note, text = name + ((note.n_namesz + 3) & ~3u),
             next = text + ((note.n_descsz + 3) & ~3u);
      if (next > end) break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !memcmp(head + name, "GNU", 4) &&
          note.n_descsz && note.n_descsz <= ID_BYTES) {
        memcpy(into, head + text, note.n_descsz);
        return note.n_descsz;
      }
      at = next;
    }
  }
  return 0;
}

/* Inside, after all mounts. */
void note_identities(void) {
  for (size_t i = 0; i < known_count; i++) {
    struct known *k = &known[i];
    int fd = open(k->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    k->is_there =
        fd >= 0 ? fstat(fd, &k->about) == 0 && S_ISREG(k->about.st_mode) : stat(k->path, &k->about) == 0;
    if (fd >= 0 && k->is_there) k->id_length = build_id(fd, k->id);
    if (fd >= 0) close(fd);
  }
}

static int has_same_bytes(const struct known *k, int fd, const struct stat *about) {
  static char one[1 << 16], other[1 << 16];
  if (about->st_size != k->about.st_size || about->st_size == 0 || about->st_size > MAX_COMPARED) return 0;
  int file = open(k->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return 0;
  off_t at = 0;
  while (at < about->st_size) {
    ssize_t n = pread(fd, one, sizeof one, at);
    if (n <= 0 || pread(file, other, (size_t)n, at) != n || memcmp(one, other, (size_t)n)) break;
    at += n;
  }
  close(file);
  return at == about->st_size;
}

static struct seen {
  dev_t device;
  ino_t inode;
  struct timespec changed;
  int has_line, is_secret, is_asked;
  size_t count;
  const char *aliases[MAX_ALIASES];
} compared[SEEN];

/* Within one tick of the file system's clock a file can change without a new time. */
static int is_settled(const struct stat *about) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return now.tv_sec - about->st_ctim.tv_sec > SETTLED_SECONDS;
}

static int is_seen(const struct seen *s, const struct stat *about) {
  return s->inode == about->st_ino && s->device == about->st_dev &&
         s->changed.tv_sec == about->st_ctim.tv_sec && s->changed.tv_nsec == about->st_ctim.tv_nsec;
}

static void compare(const char *path, const struct stat *about, struct seen *s) {
  uint8_t id[ID_BYTES];
  char mark[2] = "";
  int file = S_ISREG(about->st_mode) ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
  size_t length = file < 0 ? 0 : build_id(file, id);
  *s = (struct seen){
      .inode = is_settled(about) ? about->st_ino : 0, .device = about->st_dev, .changed = about->st_ctim};
  /* An unreadable file may be a listed program. */
  s->is_secret = known_count && file < 0 && S_ISREG(about->st_mode) && about->st_uid == geteuid();
  s->has_line = file < 0 || (pread(file, mark, 2, 0) == 2 && !memcmp(mark, "#!", 2));
  for (size_t i = 0; i < known_count && s->count < MAX_ALIASES; i++) {
    const struct known *k = &known[i];
    if (!k->is_there) continue;
    int same = k->about.st_ino == about->st_ino && k->about.st_dev == about->st_dev;
    if (!same && length) same = k->id_length == length && !memcmp(k->id, id, length);
    else if (!same && file >= 0) same = has_same_bytes(k, file, about);
    if (k->name == ASKED_FILE) {
      s->is_asked |= same;
      continue;
    }
    for (size_t j = 0; same && j < s->count; j++) same = strcmp(s->aliases[j], k->name) != 0;
    if (same) s->aliases[s->count++] = k->name;
  }
  if (file >= 0) close(file);
}

static int is_below_asked(const char *path) {
  for (size_t i = 0; i < known_count; i++) {
    size_t length = strlen(known[i].path);
    if (known[i].name == ASKED_FILE && !strncmp(path, known[i].path, length) && path[length] == '/') return 1;
  }
  return 0;
}

/* Describes the file at this path, a link in /proc. */
int look_at_image(const char *path, struct image *image) {
  struct stat about;
  ssize_t n = readlink(path, image->path, sizeof image->path - 1);
  if (n < 0 || stat(path, &about)) return -1;
  image->path[n] = 0;
  image->device = about.st_dev;
  image->inode = about.st_ino;
  struct seen *s = &compared[(about.st_ino ^ about.st_ino >> 8) % SEEN];
  if (!is_seen(s, &about)) compare(path, &about, s);
  image->has_line = s->has_line;
  image->is_secret = s->is_secret;
  image->alias_count = s->count;
  memcpy(image->aliases, s->aliases, sizeof image->aliases);
  image->is_asked = s->is_asked || (asks_for_files && is_below_asked(image->path));
  return 0;
}

void add_aliases(struct image *image, const struct image *other) {
  for (size_t i = 0; i < other->alias_count && image->alias_count < MAX_ALIASES; i++)
    image->aliases[image->alias_count++] = other->aliases[i];
}

int asks_for_operands(void) { return asks_for_files; }

/* The dynamic loader runs the file in its words without an exec. */
int is_loader(const struct image *image) {
  for (size_t i = 0; i < image->alias_count; i++)
    if (!strncmp(image->aliases[i], "ld", 2) && strstr(image->aliases[i], ".so")) return 1;
  return 0;
}
