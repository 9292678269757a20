/* Judges changes: names that run code outside the sandbox by rules, existing protected objects by
 * path and inode. */
#define _GNU_SOURCE
#include "../bare/bare.h"
#include "broker.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_PARTS (PATH_MAX / 2)
#define BUCKETS 1024
#define MAX_DEPTH 128 /* of a folder that is searched before a move */

/* A rule covers its name and everything below. The last matching rule decides. */
struct rule {
  uint8_t action, is_absolute;
  uint16_t count;
  const char **segments;
  uint32_t next; /* the next of the same bucket, as its number + 1 */
};

static struct rule *rules;
static size_t rule_count;
/* by the first segment; `wild`: patterns that begin with a glob or a slash */
static uint32_t buckets[BUCKETS], wild;

static uint32_t hash_of(const char *text) {
  uint32_t hash = 2166136261u;
  for (; *text; text++) hash = (hash ^ (uint8_t)*text) * 16777619u;
  return hash % BUCKETS;
}

/* A pattern is folded, has its segments separated by slashes, and begins with one if it names one
 * place. */
int broker_take_rule(uint8_t action, char *pattern) {
  static size_t capacity;
  if (rule_count == capacity) {
    struct rule *grown = realloc(rules, (capacity * 2 + 64) * sizeof *rules);
    if (!grown) return -1;
    rules = grown;
    capacity = capacity * 2 + 64;
  }
  struct rule *rule = &rules[rule_count];
  memset(rule, 0, sizeof *rule);
  rule->action = action;
  rule->is_absolute = pattern[0] == '/';
  char *kept = NULL;
  size_t most = 1;
  for (const char *at = pattern; (at = strchr(at, '/')); at++) most++;
  if (most > MAX_PARTS || !(rule->segments = calloc(most, sizeof *rule->segments))) return -1;
  for (char *part = strtok_r(pattern, "/", &kept); part; part = strtok_r(NULL, "/", &kept))
    rule->segments[rule->count++] = part;
  uint8_t plain = action & ACTION_MASK;
  if (rule->count == 0 || plain < ACTION_REFUSE || plain > ACTION_FREE ||
      action > (ACTION_MASK | ACTION_FOLDER | ACTION_BELOW))
    return -1;
  uint32_t *list = rule->is_absolute || strchr(rule->segments[0], '*') ? &wild
                                                                       : &buckets[hash_of(rule->segments[0])];
  rule->next = *list;
  *list = (uint32_t)++rule_count;
  return 0;
}

/* Code points that HFS+, or Linux in case-insensitive folders, ignores in comparisons: all that
 * Unicode calls ignorable. */
static const struct { uint32_t first, last;
} ignorable[] = {
    {0xad, 0xad},       {0x34f, 0x34f},     {0x61c, 0x61c},   {0x115f, 0x1160}, {0x17b4, 0x17b5},
    {0x180b, 0x180f},   {0x200b, 0x200f},   {0x202a, 0x202e}, {0x2060, 0x206f}, {0x3164, 0x3164},
    {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0}, {0xfff0, 0xfff8}, {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

/* Code points that they treat as ASCII letters. None is longer than its replacement. */
static const struct { uint32_t code; const char *letters;
} letters[] = {
    {0xdf, "ss"},   {0x131, "i"},   {0x17f, "s"},    {0x1e9e, "ss"},  {0x212a, "k"},  {0xfb00, "ff"},
    {0xfb01, "fi"}, {0xfb02, "fl"}, {0xfb03, "ffi"}, {0xfb04, "ffl"}, {0xfb05, "st"}, {0xfb06, "st"},
};

/* The length of a multi-byte code point; 0 for a byte that begins none. */
static size_t code_point(const char *text, uint32_t *code) {
  uint8_t first = (uint8_t)*text;
  size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  *code = first & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; i++) {
    if (((uint8_t)text[i] & 0xc0) != 0x80) return 0;
    *code = *code << 6 | ((uint8_t)text[i] & 0x3f);
  }
  return length;
}

/* The replacement of a code point; NULL: itself. */
static const char *folded(uint32_t code) {
  for (size_t i = 0; i < sizeof ignorable / sizeof *ignorable; i++)
    if (code >= ignorable[i].first && code <= ignorable[i].last) return "";
  for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
    if (code == letters[i].code) return letters[i].letters;
  return NULL;
}

/* Folds like foldForBroker in src/files/path-bytes.ts: names that a file system or git treats as
 * equal become equal. */
static void fold(char *text) {
  char *to = text;
  for (char *from = text; *from;) {
    uint32_t code = 0;
    size_t length = (uint8_t)*from < 0x80 ? 0 : code_point(from, &code);
    const char *instead = length ? folded(code) : NULL;
    if (instead) {
      while (*instead) *to++ = *instead++;
      from += length;
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

/* How many names the segments match, at least one; 0 without a match. A segment `**` matches any
 * number. */
static size_t fits(const char *const *segments, size_t count, char **names, size_t name_count) {
  if (count == 0) return 0;
  size_t taken = 0;
  for (size_t i = 0; i < count; i++) {
    if (!strcmp(segments[i], "**")) {
      for (size_t skip = 0; taken + skip <= name_count; skip++) {
        size_t rest = i + 1 == count ? 0
                                     : fits(segments + i + 1, count - i - 1, names + taken + skip,
                                            name_count - taken - skip);
        if (rest) return taken + skip + rest;
      }
      return 0;
    }
    if (taken == name_count || !fits_segment(segments[i], names[taken])) return 0;
    taken++;
  }
  return taken;
}

/* The deciding rule of a path, as its number + 1, and whether it names the path itself or a folder
 * above it. */
static uint32_t deciding_rule(char **names, size_t count, size_t root, int *is_exact) {
  uint32_t best = 0;
  for (size_t i = 0; i < count; i++) {
    uint32_t lists[2] = {buckets[hash_of(names[i])], wild};
    for (int l = 0; l < 2; l++)
      /* lists go from the last rule to the first */
      for (uint32_t at = lists[l]; at > best; at = rules[at - 1].next) {
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
  for (char *part = strtok_r(path, "/", &kept); part && count < MAX_PARTS; part = strtok_r(NULL, "/", &kept))
    names[count++] = part;
  return count;
}

/* Objects that must stay in place, with their folders. Sorted. */
static const char **fixed;
static size_t fixed_count;

int broker_hold(const char *path) {
  const char **grown = realloc(fixed, (fixed_count + 1) * sizeof *fixed);
  if (!grown) return -1;
  fixed = grown;
  fixed[fixed_count++] = path;
  return 0;
}

static int by_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void broker_sort_fixed(void) {
  if (fixed_count) qsort(fixed, fixed_count, sizeof *fixed, by_text);
}

/* Whether a path is protected in place, or contains something that is. */
int contains_fixed(const char *path) {
  size_t low = 0, high = fixed_count, length = strlen(path);
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (strcmp(fixed[middle], path) < 0) low = middle + 1;
    else high = middle;
  }
  /* Between a path and its children, names may sort that continue with a character before the
   * slash. */
  for (; low < fixed_count && !strncmp(fixed[low], path, length); low++)
    if (fixed[low][length] == 0 || fixed[low][length] == '/') return 1;
  return 0;
}

/* The number of names in a path. */
static size_t depth_of(const char *path, size_t length) {
  size_t depth = 0;
  for (size_t i = 0; i < length; i++) depth += path[i] == '/' && i + 1 < length;
  return depth;
}

/* A path as rules match it. */
struct names {
  char text[PATH_MAX];
  char *list[2 * MAX_PARTS]; /* has space for more names */
  size_t count, root; /* root: how many of them name the place */
};

static void take_names(struct names *n, const struct spot *s) {
  strcpy(n->text, s->path);
  fold(n->text);
  n->count = split(n->text, n->list);
  n->root = s->place ? depth_of(s->place->path, s->place->length) : 0;
}

static const struct rule *rule_of(struct names *n, size_t count, int *is_exact) {
  uint32_t number = deciding_rule(n->list, count, n->root, is_exact);
  return number ? &rules[number - 1] : NULL;
}

static const struct rule *rule_about(const struct spot *s, int *is_exact) {
  static struct names n;
  take_names(&n, s);
  return rule_of(&n, n.count, is_exact);
}

/* 0, or the errno for the caller. Judged content (git's configuration) may only arrive by a rename
 * of a file that can be read first (CHANGE_PLACE), and may be removed. */
int judge(const struct spot *s, enum change change) {
  int is_exact = 0;
  int takes_away = change == CHANGE_REMOVE || change == CHANGE_MOVE || change == CHANGE_UNFOLDER;
  if (takes_away && (bare_is_on() || !is_loose(s)) && contains_fixed(s->path)) return EBUSY;
  int refused = bare_is_on() ? bare_refuses(s) : 0;
  if (refused || is_loose(s)) return refused;
  const struct rule *rule = rule_about(s, &is_exact);
  uint8_t action = rule ? rule->action : ACTION_FREE;
  if (is_exact && (action & ACTION_FOLDER) &&
      (change == CHANGE_FOLDER || change == CHANGE_UNFOLDER ||
       (change == CHANGE_MODE && S_ISDIR(s->about.st_mode))))
    return 0;
  switch (action & ACTION_MASK) {
  case ACTION_REFUSE: return EROFS;
  case ACTION_JUDGE:
    return change == CHANGE_REMOVE || change == CHANGE_MODE || change == CHANGE_PLACE ? 0 : EROFS;
  case ACTION_NOTE: journal_refused(s->path, change, 0); return judge_repository(s, change);
  /* A path that the manifest names is the person's choice. */
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

static int is_protecting(const struct rule *rule) {
  uint8_t action = rule ? rule->action & ACTION_MASK : ACTION_FREE;
  return action == ACTION_REFUSE || action == ACTION_JUDGE;
}

/* Whether segments match all the names. */
static int fits_all(const char *const *segments, size_t count, char **names, size_t name_count) {
  if (count == 0) return name_count == 0;
  if (strcmp(segments[0], "**"))
    return name_count > 0 && fits_segment(segments[0], names[0]) &&
           fits_all(segments + 1, count - 1, names + 1, name_count - 1);
  for (size_t skip = 0; skip <= name_count; skip++)
    if (fits_all(segments + 1, count - 1, names + skip, name_count - skip)) return 1;
  return 0;
}

/* Whether the first segments of a rule match all of a path: the others then decide below it. */
static int begins(const struct rule *rule, size_t taken, const struct names *n) {
  char *const *names = n->list;
  if (n->count == 0 || !fits_segment(rule->segments[taken - 1], names[n->count - 1])) return 0;
  for (size_t i = 0; i < (rule->is_absolute ? 1 : n->count); i++)
    if (fits_all(rule->segments, taken, (char **)names + i, n->count - i)) return 1;
  return 0;
}

/* Whether the rest of a rule protects something below a path. */
static int protects_below(const struct rule *rule, size_t taken, struct names *n) {
  size_t count = n->count;
  int is_exact;
  for (size_t i = taken; i < rule->count; i++)
    if (strcmp(rule->segments[i], "**")) n->list[count++] = (char *)rule->segments[i];
  return is_protecting(rule_of(n, count, &is_exact));
}

/* A link gives its name to everything at its target, now or later: `ln -s x .vscode`, with
 * x/tasks.json. Refused if a name below it would be protected. Below .git/modules any name matches,
 * and git tests links there; repositories behind one are protected by their marks. */
static int judge_link_name(struct names *n) {
  for (size_t i = 0; i < rule_count; i++)
    for (size_t taken = 1; is_protecting(&rules[i]) && taken < rules[i].count; taken++)
      if (strcmp(rules[i].segments[taken - 1], "**") && begins(&rules[i], taken, n) &&
          protects_below(&rules[i], taken, n))
        return EROFS;
  return 0;
}

int judge_link(const struct spot *s) {
  static struct names n;
  if (is_loose(s)) return 0;
  take_names(&n, s);
  return judge_link_name(&n);
}

static DIR *list_folder(int folder, const char *name) {
  int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR *list = fd < 0 ? NULL : fdopendir(fd);
  if (!list && fd >= 0) close(fd);
  return list;
}

/* The next entry with its name folded; NULL at the end. */
static struct dirent *next_entry_of(DIR *list, char name[NAME_MAX + 1]) {
  struct dirent *entry;
  while ((entry = readdir(list)) && (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))) continue;
  if (!entry) return NULL;
  strcpy(name, entry->d_name);
  fold(name);
  return entry;
}

/* An unreadable folder counts as having it. */
static int has_entry(int folder, const char *glob) {
  char name[NAME_MAX + 1];
  DIR *list = list_folder(folder, ".");
  int found = !list;
  while (!found && next_entry_of(list, name)) found = !strcmp(glob, "**") || fits_segment(glob, name);
  if (list) closedir(list);
  return found;
}

static int type_of(int folder, const struct dirent *entry) {
  struct stat about;
  if (entry->d_type != DT_UNKNOWN) return entry->d_type;
  return fstatat(folder, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) ? DT_UNKNOWN : IFTODT(about.st_mode);
}

/* Whether a folder contains something that its new place would protect and its old one did not. */
static int judge_entries(int folder, const char *of, struct names *from, struct names *to, int depth) {
  char name[NAME_MAX + 1];
  DIR *list = depth < MAX_DEPTH && to->count < MAX_PARTS ? list_folder(folder, of) : NULL;
  int error = list ? 0 : EROFS;
  for (struct dirent *entry; !error && (entry = next_entry_of(list, name));) {
    int type = type_of(dirfd(list), entry), is_exact = 0;
    from->list[from->count++] = to->list[to->count++] = name;
    const struct rule *rule = rule_of(to, to->count, &is_exact);
    int may_be_folder = type == DT_DIR && is_exact && rule && (rule->action & ACTION_FOLDER);
    if (is_protecting(rule) && !may_be_folder && !is_protecting(rule_of(from, from->count, &is_exact)))
      error = EROFS;
    else if (type == DT_LNK) error = judge_link_name(from) ? 0 : judge_link_name(to);
    else if (type == DT_DIR) error = judge_entries(dirfd(list), entry->d_name, from, to, depth + 1);
    from->count--;
    to->count--;
  }
  if (list) closedir(list);
  return error;
}

/* Whether a rule frees everything below a path. */
static int is_free_below(struct names *n) {
  int is_exact;
  n->list[n->count] = "x";
  const struct rule *rule = rule_of(n, n->count + 1, &is_exact);
  return rule && (rule->action & ACTION_MASK) == ACTION_FREE;
}

/* Whether a rule frees a place further down. */
static int has_free_place(struct names *n) {
  for (size_t i = 0; i < rule_count; i++)
    if (rules[i].is_absolute && (rules[i].action & ACTION_MASK) == ACTION_FREE && rules[i].count > n->count &&
        fits_all(rules[i].segments, n->count, n->list, n->count))
      return 1;
  return 0;
}

/* A moved directory renames all below it: `mv plain .git`, with plain/hooks in it, or a folder out
 * of a package, where nothing is protected. Refused if something in it would become protected. */
int judge_tree(struct spot *from, const struct spot *to) {
  static struct names before, after;
  if (is_loose(to)) return 0;
  if (S_ISLNK(from->about.st_mode)) return judge_link(to);
  if (!S_ISDIR(from->about.st_mode)) return 0;
  take_names(&before, from);
  take_names(&after, to);
  for (size_t i = 0; i < rule_count; i++) {
    const struct rule *rule = &rules[i];
    for (size_t taken = 1; is_protecting(rule) && taken < rule->count; taken++) {
      if (!begins(rule, taken, &after) || !protects_below(rule, taken, &after) ||
          protects_below(rule, taken, &before))
        continue;
      if (open_object(from) < 0 || has_entry(from->object, rule->segments[taken])) return EROFS;
    }
  }
  if (!is_loose(from) && !has_free_place(&before) && (!is_free_below(&before) || is_free_below(&after)))
    return 0;
  return open_object(from) < 0 ? EROFS : judge_entries(from->object, ".", &before, &after, 0);
}
