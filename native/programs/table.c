/*
 * Chooses the starts that the parent judges, by lines of the setup message:
 *   n NAME[<TAB>WORD]...   a program of this name, or any word that names it, if all these words are present
 *   s TEXT                 the words contain this text, in any case
 *   i NAME<TAB>PATH        the program at this path is NAME under every other name too
 *   f PATH                 this file, a link or a copy, or a file below this folder: program or word
 *   h NAME                 a program of this name, a pattern, has hosts (callers.c); alone: report
 *   *                      every start
 */
#define _GNU_SOURCE
#include "programs.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 1024

struct line {
  const char *name;
  const char **words;
  size_t word_count;
  struct line *next;
};

static struct line *slots[SLOTS];
static const char **texts;
static size_t text_count;
static int is_on, asks_all;

static size_t slot_of(const char *name, size_t length) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < length; i++) hash = (hash ^ (uint8_t)name[i]) * 16777619u;
  return (hash ^ hash >> 16) % SLOTS;
}

static int take_name(char *text) {
  struct line *line = calloc(1, sizeof *line);
  if (!line) return -1;
  line->name = strsep(&text, "\t");
  for (char *word; text && (word = strsep(&text, "\t"));) {
    const char **grown = realloc(line->words, (line->word_count + 1) * sizeof *grown);
    if (!grown) return -1;
    line->words = grown;
    line->words[line->word_count++] = word;
  }
  size_t slot = slot_of(line->name, strlen(line->name));
  line->next = slots[slot];
  slots[slot] = line;
  return line->name[0] ? 0 : -1;
}

static int take_text(const char *text) {
  const char **grown = realloc(texts, (text_count + 1) * sizeof *grown);
  if (!grown || !text[0]) return -1;
  texts = grown;
  texts[text_count++] = text;
  return 0;
}

static int take_identity(char *text) {
  const char *name = strsep(&text, "\t");
  return text && text[0] == '/' && name[0] ? add_identity(text, name) : -1;
}

/* Reads one line of the table; 0 if it is valid. */
int programs_take_line(char *line) {
  is_on = 1;
  if (!strcmp(line, "*")) return asks_all = 1, 0;
  if (!strcmp(line, "h")) return callers_take_name("");
  if (!line[0] || line[1] != ' ') return -1;
  switch (line[0]) {
  case 'n': return take_name(line + 2);
  case 's': return take_text(line + 2);
  case 'i': return take_identity(line + 2);
  case 'f': return line[2] == '/' ? add_identity(line + 2, ASKED_FILE) : -1;
  case 'h': return callers_take_name(line + 2);
  default: return -1;
  }
}

int programs_is_on(void) { return is_on; }

static int has_word(const struct words *w, const char *wanted) {
  for (const char *at = w->bytes; at < w->bytes + w->length; at += strlen(at) + 1)
    if (!strcmp(at, wanted)) return 1;
  return 0;
}

static int has_words(const struct line *line, const struct words *w) {
  for (size_t i = 0; i < line->word_count; i++)
    if (!has_word(w, line->words[i])) return 0;
  return 1;
}

static int is_name_listed(const char *name, const struct words *w) {
  for (const struct line *line = slots[slot_of(name, strlen(name))]; line; line = line->next)
    if (!strcmp(line->name, name) && has_words(line, w)) return 1;
  return 0;
}

/* `git-push` is another name of `git push`. */
static int is_joined_listed(const char *name, const struct words *w) {
  char first[NAME_MAX + 1];
  const char *dash = strchr(name, '-');
  if (!dash || dash == name || dash - name >= (ptrdiff_t)sizeof first) return 0;
  memcpy(first, name, (size_t)(dash - name));
  first[dash - name] = 0;
  for (const struct line *line = slots[slot_of(first, strlen(first))]; line; line = line->next) {
    if (strcmp(line->name, first)) continue;
    size_t i = 0;
    while (i < line->word_count && (!strcmp(line->words[i], dash + 1) || has_word(w, line->words[i]))) i++;
    if (i == line->word_count) return 1;
  }
  return 0;
}

static int is_any_listed(const char *path, const struct words *w) {
  const char *name = base_name(path);
  return name[0] && (is_name_listed(name, w) || is_joined_listed(name, w));
}

static int holds_text(const struct words *w) {
  if (!text_count) return 0;
  char *joined = malloc(w->length + 1);
  if (!joined) return 1;
  for (size_t i = 0; i < w->length; i++) joined[i] = w->bytes[i] ? w->bytes[i] : ' ';
  joined[w->length] = 0;
  int found = 0;
  for (size_t i = 0; i < text_count && !found; i++) found = strcasestr(joined, texts[i]) != NULL;
  free(joined);
  return found;
}

/* Whether the parent is to be asked. `path` is the caller's name of the program; NULL at the exec
 * stop. */
int is_listed(const struct image *image, const char *path, const struct words *w) {
  if (asks_all || image->is_asked) return 1;
  for (size_t i = 0; i < image->alias_count; i++)
    if (is_any_listed(image->aliases[i], w)) return 1;
  if ((path && is_any_listed(path, w)) || is_any_listed(image->path, w)) return 1;
  for (const char *at = w->bytes; at < w->bytes + w->length; at += strlen(at) + 1)
    if (is_any_listed(at, w)) return 1;
  return holds_text(w);
}
