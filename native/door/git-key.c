/* Settings of git that are harmless: a table of keys, each with a rule for its value, and the hosts that a person granted. */
#define _GNU_SOURCE
#include "door.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

/* A line `PATTERN<TAB>RULE` or `host<TAB>NAME`. */
int door_take_key(char *line) {
  char *tab = strchr(line, '\t');
  if (!tab || tab == line || !tab[1]) return -1;
  *tab = 0;
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

/* `a.b` is looked for as itself and `a.*`; `a.S.b` as `a.*.b`, `a.*.*` and `a.s.*`. */
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
  for (size_t i = section; i < length; i++) pattern[i] = key[i] >= 'A' && key[i] <= 'Z' ? (char)(key[i] + 32) : key[i];
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

static int is_word(const char *value) { return value[0] != '-' && value[strspn(value, WORDS "./:+,@=%-")] == 0; }

static int is_remote(const char *value) {
  if (!strcmp(value, ".")) return 1;
  return value[0] && strchr(WORDS, value[0]) && value[strspn(value, WORDS ".-")] == 0 && !strstr(value, "..");
}

/* The host behind the last @, in lower case; 0 for what is none that can be told. */
static int bare_host(const char *from, size_t length, char *host) {
  for (size_t i = 0; i < length; i++)
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
  size_t end = length;
  while (end > 0 && authority[end - 1] >= '0' && authority[end - 1] <= '9') end--;
  if (end > 0 && authority[end - 1] == ':') length = end - 1;
  return known && bare_host(authority, length, host) ? 1 : -1;
}

/* 1: the address leads to this host; 0: to a local path; -1: it runs a program, or cannot be told. */
int address_host(const char *address, char *host) {
  const char *start = address + strspn(address, " \t");
  if (!*address || *start == '-') return -1;
  for (const uint8_t *p = (const uint8_t *)address; *p; p++)
    if (*p < 0x20 || *p == 0x7f) return -1;
  size_t transport = strspn(start, LETTERS "0123456789+.-");
  if (!strncmp(start + transport, "::", 2)) return -1;
  size_t scheme = strspn(address, LETTERS "0123456789+.-");
  if (scheme > 0 && strchr(LETTERS, address[0]) && !strncmp(address + scheme, "://", 3)) return url_host(address, scheme, address + scheme + 3, host);
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

/* True for a key on the list with a value that its rule takes. The key is in lower case but for its middle. */
int is_harmless_setting(const char *key, const char *value, const char *before) {
  char host[NAME_MAX];
  const char *rule = find_rule(key);
  if (!rule) return 0;
  if (!strcmp(rule, "text")) return is_text(value);
  if (!strcmp(rule, "bool")) return is_switch(value);
  if (!strcmp(rule, "word")) return is_word(value);
  if (!strcmp(rule, "remote")) return is_remote(value);
  if (!strcmp(rule, "quiet")) return is_quiet(value);
  if (!strcmp(rule, "worktree")) return is_own_folder(value);
  if (strcmp(rule, "url")) return 0;
  int leads = address_host(value, host);
  return leads == 0 || (leads == 1 && (is_granted_host(host) || was_known_host(before, host)));
}
