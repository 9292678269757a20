/* Harmless git settings: a table of keys with a rule for each value, and the granted hosts. Also
 * the paths that such settings name: no link may ever come between a setting and its target. */
#define _GNU_SOURCE
#include "broker.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BUCKETS 512
#define MAX_KEY 1024

struct key {
  const char *pattern, *rule;
  struct key *next;
};

static struct key *buckets[BUCKETS];
static const char **hosts;
static size_t host_count;

static size_t bucket_of(const char *text) {
  uint32_t hash = 2166136261u;
  for (; *text; text++) hash = (hash ^ (uint8_t)*text) * 16777619u;
  return hash % BUCKETS;
}

/* A path that a setting names, and its base folder. That folder moves only together with all that
 * `..` reaches. */
struct named_path {
  char *to, *from; /* from: NULL for an absolute path */
  size_t base; /* the length of the part of `from` that `..` reaches */
};

static struct named_path *named_paths;
static size_t named_count;

/* The length of `folder` if a path is that folder or below it; otherwise 0. */
static size_t below(const char *path, const char *folder) {
  size_t length = strlen(folder);
  return !strncmp(path, folder, length) && (path[length] == 0 || path[length] == '/') ? length : 0;
}

static int is_dots(const char *at) { return !strncmp(at, "/..", 3) && (at[3] == 0 || at[3] == '/'); }

/* A name without effect: `.`, `..` or empty. */
static int is_idle(const char *at) {
  return is_dots(at) || !strncmp(at, "//", 2) || (!strncmp(at, "/.", 2) && (at[2] == 0 || at[2] == '/'));
}

/* Takes `FOLDER/../../PLACE` or `/PLACE`. Returns -1 for a `..` elsewhere, and without memory. */
int broker_take_named_path(const char *text) {
  char whole[PATH_MAX];
  const char *up = text, *rest;
  while (*up && !is_dots(up)) up++;
  size_t base = (size_t)(up - text);
  for (rest = up; is_dots(rest); rest += 3)
    while (base > 0 && text[--base] != '/') {}
  size_t length = strlen(rest);
  while (length > 0 && rest[length - 1] == '/') length--;
  if (text[0] != '/' || base + length >= sizeof whole) return -1;
  for (const char *at = text == up ? rest : text; *at; at = at + 1 == up ? rest : at + 1)
    if (is_idle(at)) return -1;
  memcpy(whole, text, base);
  memcpy(whole + base, rest, length);
  whole[base + length] = 0;
  struct named_path one = {
      .to = strdup(whole), .from = *up ? strndup(text, (size_t)(up - text)) : NULL, .base = base};
  struct named_path *grown = realloc(named_paths, (named_count + 1) * sizeof *named_paths);
  if (grown) named_paths = grown;
  if (!grown || !one.to || (*up && !one.from)) return -1;
  named_paths[named_count++] = one;
  return 0;
}

/* Whether a link at this path would come between a git setting and its target. */
int is_on_named_path(const char *path) {
  for (size_t i = 0; i < named_count; i++)
    if (below(named_paths[i].to, path)) return 1;
  return 0;
}

/* Whether moving a folder separates a setting from its base. `exchanged`: any setting in it counts. */
int separates_named_path(const char *folder, int exchanged) {
  for (size_t i = 0; i < named_count; i++)
    if (named_paths[i].from && below(named_paths[i].from, folder) &&
        (exchanged || strlen(folder) > named_paths[i].base))
      return 1;
  return 0;
}

/* Whether a folder, moved to this path, would put a link into the path of a setting. */
int links_named_path(int folder, const char *path) {
  struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH};
  for (size_t i = 0; i < named_count; i++) {
    size_t length = below(named_paths[i].to, path);
    if (length == 0 || !named_paths[i].to[length]) continue;
    int fd = folder < 0 ? -1
                        : (int)syscall(SYS_openat2, folder, named_paths[i].to + length + 1, &how, sizeof how);
    if (fd < 0 && (folder < 0 || (errno != ENOENT && errno != ENOTDIR))) return 1;
    if (fd >= 0) close(fd);
  }
  return 0;
}

/* Updates the paths when a folder moves together with all that its settings reach. Returns -1
 * without memory. */
int move_named_paths(const char *from, const char *to) {
  char text[PATH_MAX + PATH_MAX];
  size_t count = named_count;
  for (size_t i = 0; i < count; i++) {
    size_t length = named_paths[i].from ? below(named_paths[i].from, from) : 0;
    if (length == 0 || !below(named_paths[i].to, from)) continue;
    size_t ups = 0;
    for (size_t at = strlen(named_paths[i].from); at > named_paths[i].base;)
      ups += named_paths[i].from[--at] == '/';
    if (strlen(to) + strlen(named_paths[i].from) + 3 * ups + strlen(named_paths[i].to) >= sizeof text)
      return -1;
    char *end = stpcpy(stpcpy(text, to), named_paths[i].from + length);
    while (ups--) end = stpcpy(end, "/..");
    stpcpy(end, named_paths[i].to + named_paths[i].base);
    if (broker_take_named_path(text)) return -1;
  }
  return 0;
}

/* A line `PATTERN<TAB>RULE`, `host<TAB>NAME`, `way<TAB>PATH`, or one of targets.c. */
int broker_take_key(char *line) {
  char *tab = strchr(line, '\t');
  if (!tab || tab == line || !tab[1]) return -1;
  *tab = 0;
  if (!strcmp(line, "way")) return broker_take_named_path(tab + 1);
  int taken = broker_take_target(line, tab + 1);
  if (taken) return taken < 0 ? -1 : 0;
  if (!strcmp(line, "host")) {
    const char **grown = realloc(hosts, (host_count + 1) * sizeof *hosts);
    if (!grown) return -1;
    hosts = grown;
    hosts[host_count++] = tab + 1;
    return 0;
  }
  struct key *key = malloc(sizeof *key);
  if (!key) return -1;
  size_t bucket = bucket_of(line);
  *key = (struct key){.pattern = line, .rule = tab + 1, .next = buckets[bucket]};
  buckets[bucket] = key;
  return 0;
}

static const char *rule_of(const char *pattern) {
  for (struct key *key = buckets[bucket_of(pattern)]; key; key = key->next)
    if (!strcmp(key->pattern, pattern)) return key->rule;
  return NULL;
}

/* Looks for `a.b` as itself and `a.*`; for `a.S.b` as `a.*.b`, `a.*.*` and `a.s.*`. */
static const char *find_rule(const char *key) {
  char pattern[MAX_KEY + 8];
  const char *first = strchr(key, '.'), *last = strrchr(key, '.'), *rule;
  size_t section = first ? (size_t)(first - key) : 0;
  if (section == 0 || !last[1] || strlen(key) >= MAX_KEY) return NULL;
  memcpy(pattern, key, section);
  if (first == last) {
    if ((rule = rule_of(key))) return rule;
    strcpy(pattern + section, ".*");
    return rule_of(pattern);
  }
  strcpy(pattern + section, ".*");
  strcpy(pattern + section + 2, last);
  if ((rule = rule_of(pattern))) return rule;
  strcpy(pattern + section, ".*.*");
  if ((rule = rule_of(pattern))) return rule;
  size_t length = (size_t)(last - key);
  for (size_t i = section; i < length; i++)
    pattern[i] = key[i] >= 'A' && key[i] <= 'Z' ? (char)(key[i] + 32) : key[i];
  strcpy(pattern + length, ".*");
  return rule_of(pattern);
}

static int is_one_of(const char *value, const char *const *list, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!strcasecmp(value, list[i])) return 1;
  return 0;
}

static int is_switch(const char *value) {
  static const char *const words[] = {"", "true", "false", "yes", "no", "on", "off", "0", "1"};
  return is_one_of(value, words, sizeof words / sizeof *words);
}

static int is_quiet(const char *value) {
  static const char *const programs[] = {"", "cat", "true", "false", ":"};
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
    if (!strcmp(value, programs[i])) return 1;
  return 0;
}

static int is_text(const char *value) {
  for (const uint8_t *p = (const uint8_t *)value; *p; p++)
    if ((*p < 0x20 && *p != '\t' && *p != '\n') || *p == 0x7f) return 0;
  return 1;
}

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define WORDS LETTERS "0123456789_"

static int is_word(const char *value) {
  return value[0] != '-' && value[strspn(value, WORDS "./:+,@=%-")] == 0;
}

/* A relative path without `..`. */
static int is_inside(const char *value) {
  if (value[0] == '/' || !is_word(value) || !strcmp(value, "..") || !strncmp(value, "../", 3)) return 0;
  for (const char *at = value; (at = strchr(at, '/')); at++)
    if (is_dots(at)) return 0;
  return 1;
}

static int is_remote(const char *value) {
  if (!strcmp(value, ".")) return 1;
  return value[0] && strchr(WORDS, value[0]) && value[strspn(value, WORDS ".-")] == 0 && !strstr(value, "..");
}

/* The host after the last @, in lower case; 0 if it is not a reportable one. git takes a host in
 * brackets before the @ (`[a]@b`), and decodes addresses for ssh before it looks for the host. */
static int bare_host(const char *from, size_t length, char *host) {
  for (size_t i = 0; i < length; i++)
    if (strchr("[]\\", from[i])) return 0;
  for (size_t i = length; i-- > 0;)
    if (from[i] == '@') return bare_host(from + i + 1, length - i - 1, host);
  if (length == 0 || length >= NAME_MAX || from[0] == '-') return 0;
  for (size_t i = 0; i < length; i++) {
    if (!strchr(WORDS ".-", from[i])) return 0;
    host[i] = from[i] >= 'A' && from[i] <= 'Z' ? (char)(from[i] + 32) : from[i];
  }
  if (host[length - 1] == '.') length--;
  host[length] = 0;
  return length > 0;
}

static int url_host(const char *scheme, size_t scheme_length, const char *authority, char *host) {
  static const char *const schemes[] = {"http", "https", "ssh", "git", "git+ssh", "ssh+git"};
  size_t length = strcspn(authority, "/?#"), known = 0;
  if (scheme_length == 4 && !strncasecmp(scheme, "file", 4))
    return length == 0 || (length == 9 && !strncmp(authority, "localhost", 9)) ? 0 : -1;
  for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
    known |= strlen(schemes[i]) == scheme_length && !strncasecmp(scheme, schemes[i], scheme_length);
  int is_decoded = strncasecmp(scheme, "http", 4) && memchr(authority, '%', length);
  size_t end = length;
  while (end > 0 && authority[end - 1] >= '0' && authority[end - 1] <= '9') end--;
  if (end > 0 && authority[end - 1] == ':') length = end - 1;
  return known && !is_decoded && bare_host(authority, length, host) ? 1 : -1;
}

/* 1: the address points to this host; 0: to a local path; -1: it runs a program, or is unknown. */
int address_host(const char *address, char *host) {
  const char *start = address + strspn(address, " \t");
  if (!*address || *start == '-') return -1;
  for (const uint8_t *p = (const uint8_t *)address; *p; p++)
    if (*p < 0x20 || *p == 0x7f) return -1;
  size_t transport = strspn(start, LETTERS "0123456789+.-");
  if (!strncmp(start + transport, "::", 2)) return -1;
  size_t scheme = strspn(address, LETTERS "0123456789+.-");
  if (scheme > 0 && strchr(LETTERS, address[0]) && !strncmp(address + scheme, "://", 3))
    return url_host(address, scheme, address + scheme + 3, host);
  const char *colon = strchr(address, ':'), *slash = strchr(address, '/');
  if (!colon || (slash && slash < colon)) return 0;
  return bare_host(address, (size_t)(colon - address), host) ? 1 : -1;
}

static int is_granted_host(const char *host) {
  size_t length = strlen(host);
  for (size_t i = 0; i < host_count; i++) {
    const char *pattern = hosts[i];
    size_t end = strlen(pattern) - 1; /* of `.example.com` */
    if (!strcmp(pattern, "*") || !strcmp(pattern, host)) return 1;
    if (!strncmp(pattern, "*.", 2) && length > end && !strcmp(host + length - end, pattern + 1)) return 1;
  }
  return 0;
}

/* Whether a listed key has a value that its rule accepts. The key is in lower case except for its
 * middle. */
int is_harmless_setting(const char *key, const char *value, const char *before) {
  char host[NAME_MAX];
  const char *rule = find_rule(key);
  if (!rule) return 0;
  if (!strcmp(rule, "text")) return is_text(value);
  if (!strcmp(rule, "bool")) return is_switch(value);
  if (!strcmp(rule, "word")) return is_word(value);
  if (!strcmp(rule, "remote")) return is_remote(value);
  if (!strcmp(rule, "inside")) return is_inside(value);
  if (!strcmp(rule, "quiet")) return is_quiet(value);
  /* Older versions of git take a tab in a value for a blank. */
  if (!strcmp(rule, "worktree")) return is_text(value) && !strpbrk(value, "\t\n") && is_own_folder(value);
  if (strcmp(rule, "url")) return 0;
  int leads = address_host(value, host);
  return leads == 0 || (leads == 1 && (is_granted_host(host) || was_known_host(before, host)));
}
