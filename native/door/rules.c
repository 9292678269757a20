/* What may be changed: names that run code for somebody else, by rules, and what stands already, by path and inode. */
#define _GNU_SOURCE
#include "door.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum action { ACTION_REFUSE = 1, ACTION_JUDGE = 2, ACTION_NOTE = 3, ACTION_FREE = 4, ACTION_MASK = 7, ACTION_FOLDER = 8, ACTION_BELOW = 16 };

#define MAX_PARTS (PATH_MAX / 2)
#define BUCKETS 1024

/* A rule stands for what it names and for everything below. The last one that fits decides. */
struct rule {
  uint8_t action, is_absolute;
  uint16_t count;
  const char **segments;
  uint32_t next; /* the next of the same bucket, as its number + 1 */
};

static struct rule *rules;
static size_t rule_count;
static uint32_t buckets[BUCKETS], wild; /* by the first segment; `wild`: those that begin with a glob or a slash */

static uint32_t hash_of(const char *text) {
  uint32_t hash = 2166136261u;
  for (; *text; text++) hash = (hash ^ (uint8_t)*text) * 16777619u;
  return hash % BUCKETS;
}

/* A pattern is folded already, has its segments parted by slashes, and begins with one if it names one place. */
int door_take_rule(uint8_t action, char *pattern) {
  static size_t room;
  if (rule_count == room) {
    struct rule *grown = realloc(rules, (room * 2 + 64) * sizeof *rules);
    if (!grown) return -1;
    rules = grown;
    room = room * 2 + 64;
  }
  struct rule *rule = &rules[rule_count];
  memset(rule, 0, sizeof *rule);
  rule->action = action;
  rule->is_absolute = pattern[0] == '/';
  char *kept = NULL;
  size_t most = 1;
  for (const char *at = pattern; (at = strchr(at, '/')); at++) most++;
  if (most > MAX_PARTS || !(rule->segments = calloc(most, sizeof *rule->segments))) return -1;
  for (char *part = strtok_r(pattern, "/", &kept); part; part = strtok_r(NULL, "/", &kept)) rule->segments[rule->count++] = part;
  uint8_t plain = action & ACTION_MASK;
  if (rule->count == 0 || plain < ACTION_REFUSE || plain > ACTION_FREE || action > (ACTION_MASK | ACTION_FOLDER | ACTION_BELOW)) return -1;
  uint32_t *list = rule->is_absolute || strchr(rule->segments[0], '*') ? &wild : &buckets[hash_of(rule->segments[0])];
  rule->next = *list;
  *list = (uint32_t)++rule_count;
  return 0;
}

/* A code point that HFS+ leaves out when it compares names: its length in bytes, or 0. */
static size_t ignored_length(const char *at) {
  const uint8_t *p = (const uint8_t *)at;
  if (p[0] == 0xe2 && p[1] == 0x80 && ((p[2] >= 0x8c && p[2] <= 0x8f) || (p[2] >= 0xaa && p[2] <= 0xae))) return 3;
  if (p[0] == 0xe2 && p[1] == 0x81 && p[2] >= 0xaa && p[2] <= 0xaf) return 3;
  return p[0] == 0xef && p[1] == 0xbb && p[2] == 0xbf ? 3 : 0;
}

/* As src/files/protected-paths.ts folds names: what a careless file system or git takes for the same. */
static void fold(char *text) {
  char *to = text;
  for (char *from = text; *from;) {
    size_t skip = ignored_length(from);
    from += skip;
    if (skip) continue;
    if (!strncmp(from, "\xe2\x84\xaa", 3)) { /* the sign for kelvin is a k in lower case */
      *to++ = 'k';
      from += 3;
      continue;
    }
    *to++ = *from >= 'A' && *from <= 'Z' ? (char)(*from + 32) : *from;
    from++;
  }
  *to = 0;
}

static int fits_segment(const char *glob, const char *name) {
  const char *star = NULL, *again = NULL;
  while (*name) {
    if (*glob == '*') {
      star = glob++;
      again = name;
    } else if (*glob == *name) {
      glob++;
      name++;
    } else if (star) {
      glob = star + 1;
      name = ++again;
    } else return 0;
  }
  while (*glob == '*') glob++;
  return *glob == 0;
}

/* How many of the names the segments take, at least one; 0 when they do not fit. A segment `**` takes any number. */
static size_t fits(const char *const *segments, size_t count, char **names, size_t name_count) {
  if (count == 0) return 0;
  size_t taken = 0;
  for (size_t i = 0; i < count; i++) {
    if (!strcmp(segments[i], "**")) {
      for (size_t skip = 0; taken + skip <= name_count; skip++) {
        size_t rest = i + 1 == count ? 0 : fits(segments + i + 1, count - i - 1, names + taken + skip, name_count - taken - skip);
        if (rest) return taken + skip + rest;
      }
      return 0;
    }
    if (taken == name_count || !fits_segment(segments[i], names[taken])) return 0;
    taken++;
  }
  return taken;
}

/* The rule that decides about a path, as its number + 1, and whether it is about this very thing or something above it. */
static uint32_t deciding_rule(char **names, size_t count, size_t root, int *is_exact) {
  uint32_t best = 0;
  for (size_t i = 0; i < count; i++) {
    uint32_t lists[2] = {buckets[hash_of(names[i])], wild};
    for (int l = 0; l < 2; l++)
      for (uint32_t at = lists[l]; at > best; at = rules[at - 1].next) { /* lists go from the last rule to the first */
        const struct rule *rule = &rules[at - 1];
        if ((rule->is_absolute && i > 0) || ((rule->action & ACTION_BELOW) && i < root)) continue;
        size_t taken = fits(rule->segments, rule->count, names + i, count - i);
        if (taken == 0) continue;
        best = at;
        *is_exact = i + taken == count;
        break;
      }
  }
  return best;
}

static size_t split(char *path, char **names) {
  size_t count = 0;
  char *kept = NULL;
  for (char *part = strtok_r(path, "/", &kept); part && count < MAX_PARTS; part = strtok_r(NULL, "/", &kept)) names[count++] = part;
  return count;
}

/* What stands and must stay: where it is, and above it what would move it. Sorted. */
static const char **held;
static size_t held_count;

int door_hold(const char *path) {
  const char **grown = realloc(held, (held_count + 1) * sizeof *held);
  if (!grown) return -1;
  held = grown;
  held[held_count++] = path;
  return 0;
}

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

void door_sort_held(void) {
  if (held_count) qsort(held, held_count, sizeof *held, by_text);
}

/* True for a path that is held, or that has something held below it. */
int is_above_held(const char *path) {
  size_t low = 0, high = held_count, length = strlen(path);
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (strcmp(held[middle], path) < 0) low = middle + 1;
    else high = middle;
  }
  /* Between a path and what is below it stand names that go on with a character before the slash. */
  for (; low < held_count && !strncmp(held[low], path, length); low++)
    if (held[low][length] == 0 || held[low][length] == '/') return 1;
  return 0;
}

/* Protected files that have a second name, by which they could be written. */
static struct { dev_t device; ino_t inode; } *inodes;
static size_t inode_count;

void hold_inode(const char *path) {
  struct stat about;
  if (lstat(path, &about) || !S_ISREG(about.st_mode) || about.st_nlink < 2) return;
  void *grown = realloc(inodes, (inode_count + 1) * sizeof *inodes);
  if (!grown) return;
  inodes = grown;
  inodes[inode_count].device = about.st_dev;
  inodes[inode_count++].inode = about.st_ino;
}

static int is_held_inode(const struct stat *about) {
  if (about->st_nlink < 2) return 0;
  for (size_t i = 0; i < inode_count; i++)
    if (inodes[i].device == about->st_dev && inodes[i].inode == about->st_ino) return 1;
  return 0;
}

/* How many names a path has. */
static size_t depth_of(const char *path, size_t length) {
  size_t depth = 0;
  for (size_t i = 0; i < length; i++) depth += path[i] == '/' && i + 1 < length;
  return depth;
}

static const struct rule *rule_about(const struct spot *s, int *is_exact) {
  static char folded[PATH_MAX];
  static char *names[MAX_PARTS];
  strcpy(folded, s->path);
  fold(folded);
  size_t root = s->place ? depth_of(s->place->path, s->place->length) : 0;
  uint32_t number = deciding_rule(names, split(folded, names), root, is_exact);
  return number ? &rules[number - 1] : NULL;
}

/*
 * 0: may be done; otherwise the errno for the caller. A content that has to be judged (git's configuration) may come only by a
 * rename of a file that can be read first (CHANGE_PLACE), and may go.
 */
int judge(const struct spot *s, enum change change) {
  int is_exact = 0;
  int is_there = s->is_there;
  if (is_loose(s)) return 0;
  if (is_there && change != CHANGE_MODE && is_held_inode(&s->about)) return EROFS;
  if ((change == CHANGE_REMOVE || change == CHANGE_MOVE || change == CHANGE_UNFOLDER) && is_above_held(s->path)) return EBUSY;
  const struct rule *rule = rule_about(s, &is_exact);
  uint8_t action = rule ? rule->action : ACTION_FREE;
  if (is_exact && (action & ACTION_FOLDER) && (change == CHANGE_FOLDER || change == CHANGE_UNFOLDER)) return 0;
  switch (action & ACTION_MASK) {
  case ACTION_REFUSE: return EROFS;
  case ACTION_JUDGE: return change == CHANGE_REMOVE || change == CHANGE_MODE || change == CHANGE_PLACE ? 0 : EROFS;
  case ACTION_NOTE: journal_refused(s->path, change, 0); return judge_repository(s, change);
  /* What the manifest names by itself is the person's own choice. */
  default: return rule && rule->is_absolute ? 0 : judge_repository(s, change);
  }
}

int is_judged_by_content(const struct spot *s) {
  int is_exact = 0;
  if (is_loose(s)) return 0;
  const struct rule *rule = rule_about(s, &is_exact);
  if (rule && rule->is_absolute && (rule->action & ACTION_MASK) == ACTION_FREE) return 0;
  return (rule && (rule->action & ACTION_MASK) == ACTION_JUDGE) || is_repository_config(s);
}

/* True when the rule's segments begin with the last names of a path and want more: what is below decides then. */
static size_t wants_more(const struct rule *rule, char **names, size_t count) {
  for (size_t taken = 1; taken < rule->count && taken <= count; taken++) {
    size_t i = 0;
    while (i < taken && fits_segment(rule->segments[i], names[count - taken + i])) i++;
    if (i == taken) return taken;
  }
  return 0;
}

static int has_entry(int folder, const char *glob) {
  int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *list = fd < 0 ? NULL : fdopendir(fd);
  int found = fd < 0; /* what cannot be read is taken for the worst */
  if (!list) {
    if (fd >= 0) close(fd);
    return 1;
  }
  for (struct dirent *entry; !found && (entry = readdir(list));) {
    char name[NAME_MAX + 1];
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    strcpy(name, entry->d_name);
    fold(name);
    found = !strcmp(glob, "**") || fits_segment(glob, name);
  }
  closedir(list);
  return found;
}

/*
 * A directory that moves brings what is below it to another name: `mv plain .git`, with plain/hooks in it. Refused where that is
 * what a rule goes on with, unless the directory has that name already.
 */
int judge_tree(struct spot *from, const struct spot *to) {
  static char folded[PATH_MAX], before[PATH_MAX];
  static char *names[MAX_PARTS], *before_names[MAX_PARTS];
  if (!S_ISDIR(from->about.st_mode) || is_loose(to)) return 0;
  strcpy(folded, to->path);
  fold(folded);
  strcpy(before, from->path);
  fold(before);
  size_t count = split(folded, names), before_count = split(before, before_names);
  for (size_t i = 0; i < rule_count; i++) {
    const struct rule *rule = &rules[i];
    uint8_t action = rule->action & ACTION_MASK;
    if (rule->is_absolute || (action != ACTION_REFUSE && action != ACTION_JUDGE)) continue;
    size_t taken = wants_more(rule, names, count);
    if (taken == 0 || wants_more(rule, before_names, before_count) == taken) continue;
    if (open_object(from) < 0 || has_entry(from->object, rule->segments[taken])) return EROFS;
  }
  return 0;
}
