/*
 * Random texts for what the init reads from a command: git's configuration, the heads of programs, lines of interpreters, paths,
 * questions about names and requests to a proxy.
 * `npm test -- sanitizers` builds it with sanitizers, which end it where one of them reads or writes beside its memory.
 *   parsers SECONDS SEED
 */
#define is_blank is_blank_of_config
#include "../../../native/broker/git.c"
#undef is_blank
#include "../../../native/programs/identity.c"
#include "../../../native/programs/words.c"
#define is_below is_name_below
#define known known_names
#include "../../../native/init/init.h"
#include "../../../native/init/names.c"
#undef main
#include <sys/mman.h>
#include <time.h>

#define MOST 8192

static uint64_t state;
static uint32_t pick(uint32_t below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33) % below;
}

static const char *const pieces[] = {
    "/home/u", "/../", ".bashrc", "/proc/self/cwd", "[core]\n", "[remote \"origin\"]", "[a \"b\\\"c\\\\\"]", "[branch.x]", "[", "]", "\"", "\\", "\\\n", "\n", "\r\n", " = ", "\t", "#", ";",
    "bare = false", "fsmonitor", "worktree = ../..", "url = https://u:p@example.com:443/x", "url = git@example.com:x", "ssh://[::1]:22/",
    "hooksPath", "\xef\xbb\xbf", "\xe2\x80\x8c", "\xe2\x84\xaa", "../", "/", "//", ".git", "hooks", "config", ".VSCODE", "node_modules",
    " HTTP/1.1\r\n\r\n", "\7example\3com", "\x03\x05", "#!", "#! /bin/sh -e", "#!/usr/bin/env ", "\x7f" "ELF\x02\x01\x01", "GNU", "%2e", "@", ":", "*", "**", "=", "x",
};

static const char *const settings[] = {"core.bare", "remote.origin.url", "user.name", "branch.x.merge", "branch.x.remote", "core.excludesfile", "core.worktree", "core.pager"};

/* Pieces and bytes, without a NUL where it is to be a text. */
static size_t random_text(char *into, size_t size, int is_text) {
  size_t length = 0, wanted = pick(pick(8) ? 300 : (uint32_t)size - 1);
  while (length < wanted) {
    const char *piece = pieces[pick(sizeof pieces / sizeof *pieces)];
    char byte[2] = {(char)(is_text ? 1 + pick(255) : pick(256)), 0};
    size_t repeat = pick(40) ? 1 : pick(2000);
    const char *from = pick(4) ? piece : byte;
    size_t part = from == byte ? 1 : strlen(piece);
    while (repeat-- && length + part < size) {
      memcpy(into + length, from, part);
      length += part;
    }
    if (length + 64 >= size) break;
  }
  into[length] = 0;
  return length;
}

/* Of its exact size, so that a byte beside it is seen. */
static char *exactly(const char *text, size_t length) {
  char *copy = malloc(length + 1);
  memcpy(copy, text, length);
  copy[length] = 0;
  return copy;
}

static void try_config(char *text, size_t length) {
  static char other[MOST];
  char *config = exactly(text, length), *before = exactly(other, random_text(other, 400, 1)), host[NAME_MAX];
  (void)is_harmless(config, pick(2) ? before : "");
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) (void)is_harmless_setting(settings[i], config, before);
  (void)address_host(config, host);
  (void)is_own_folder(config);
  free(config);
  free(before);
}

static void try_head(int file, const char *text, size_t length) {
  static Elf64_Ehdr elf;
  uint8_t id[ID_BYTES];
  char line[LINE_BYTES + 1];
  const char *interpreter, *option;
  /* Half of them are programs whose tables lie anywhere. */
  memcpy(&elf, text, length < sizeof elf ? length : sizeof elf);
  memcpy(elf.e_ident, "\x7f" "ELF\x02\x01\x01", 7);
  elf.e_phoff = pick(2) ? sizeof elf : pick(4 * MOST);
  elf.e_phnum = (uint16_t)pick(1 << pick(16));
  elf.e_phentsize = sizeof(Elf64_Phdr);
  if (ftruncate(file, 0) || pwrite(file, text, length, 0) < 0 || (pick(2) && pwrite(file, &elf, sizeof elf, 0) < 0)) abort();
  (void)build_id(file, id);
  size_t head = length < LINE_BYTES ? length : LINE_BYTES;
  memcpy(line, text, head);
  line[head] = 0;
  (void)take_line(line, (ssize_t)head, &interpreter, &option);
}

static void try_path(const char *text, size_t length) {
  static struct spot spot;
  static const enum change changes[] = {CHANGE_MAKE, CHANGE_WRITE, CHANGE_PLACE, CHANGE_FOLDER};
  if (length + 2 > sizeof spot.path) length = sizeof spot.path - 2;
  spot.parent = spot.object = -1;
  spot.path[0] = '/';
  memcpy(spot.path + 1, text, length);
  spot.path[length + 1] = 0;
  (void)judge(&spot, changes[pick(4)]);
  (void)judge_link(&spot);
  (void)contains_fixed(spot.path);
  (void)is_on_named_path(spot.path);
  /* The path of a link, and its text. */
  char *target = exactly(text, pick(2) ? length : pick((uint32_t)length + 1));
  (void)judge_target(&spot, target);
  free(target);
}

/* A question of its exact size, with the space that its answer takes. */
static void try_question(const char *text, size_t length) {
  if (length > QUERY) length = QUERY;
  uint8_t *query = malloc(length + 16);
  memcpy(query, text, length);
  if (length > 6 && pick(4)) memcpy(query + 2, "\1\0\0\1", 4);
  (void)answer_query(query, length);
  free(query);
}

static void try_request(const char *text, size_t length) {
  static const char *const begins[] = {"CONNECT ", "GET http://", "\x05\x01\x00", "\x05\x01\x00\x03", "\x04\x01", ""};
  const char *begin = begins[pick(sizeof begins / sizeof *begins)];
  int ends[2], bytes = begin[0] == 5 ? 4 : (int)strlen(begin);
  struct client *c = malloc(sizeof *c);
  if (!c || socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) abort();
  *c = (struct client){.fd = ends[0], .speech = pick(2) ? SPEECH_NEW : SPEECH_SOCKS};
  memcpy(c->bytes, begin, (size_t)bytes);
  if (length > sizeof c->bytes - (size_t)bytes) length = sizeof c->bytes - (size_t)bytes;
  memcpy(c->bytes + bytes, text, length);
  c->length = (size_t)bytes + length;
  if (pick(2)) refuse(c);
  else answer_stream(c);
  if (c->fd >= 0) close(c->fd);
  close(ends[1]);
  free(c);
}

int main(int argc, char **argv) {
  static char text[MOST];
  static char rules[][64] = {".vscode", ".git/hooks", "*.local/x", ".git/**/config", "/a/b", "node_modules/**", ".cargo/config*"};
  static char keys[][64] = {"core.bare\tbool", "remote.*.url\turl", "user.name\ttext", "branch.*.merge\tword", "branch.*.remote\tremote",
                            "core.excludesfile\tinside", "core.worktree\tworktree", "core.pager\tquiet",
                            "home\t/home/u", "target\t/home/u/.bashrc", "target\t/home/u/.config/x", "folder\t/home/u/bin"};
  if (argc != 3) return 2;
  state = strtoull(argv[2], NULL, 10);
  int parent[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, parent)) return 2;
  control = parent[0];
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) (void)broker_take_rule((uint8_t)(1 + i % 4), rules[i]);
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) (void)broker_take_key(keys[i]);
  if (broker_hold("/a/.env") || broker_hold("/x/.git/config")) return 2;
  broker_sort_fixed();
  int file = memfd_create("head", 0);
  time_t end = time(NULL) + atoi(argv[1]);
  unsigned long rounds = 0;
  for (; time(NULL) < end; rounds++) {
    size_t length = random_text(text, sizeof text, 1);
    try_config(text, length);
    try_path(text, length);
    try_head(file, text, length = random_text(text, sizeof text, 0));
    try_question(text, length);
    try_request(text, length);
    while (recv(parent[1], text, sizeof text, MSG_DONTWAIT) > 0) continue;
  }
  printf("%lu rounds of parsers, seed %s\n", rounds, argv[2]);
  return 0;
}
