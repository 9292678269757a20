/* The judge of program starts. The command's filter sends every execve and execveat here. A start
 * that matches no line of the table continues; the parent judges the others, and the caller waits
 * for its answer.
 *
 * Words in the caller's memory prove nothing: its threads, a child that shares the memory, or a
 * shared mapping can change them. So each start is checked twice. First by the caller's words
 * (start.c), where a refusal is an ordinary error. Then at the exec stop (stop.c) by the new image,
 * which no other process can write; an unjudged image is killed.
 *
 * table.c chooses the starts to judge, identity.c recognises listed programs under other names,
 * words.c reads words and interpreter lines. chain.c lists the ancestors, tree.c the programs that
 * ran, and callers.c finds the program of a connection. */
#ifndef PROGRAMS_H
#define PROGRAMS_H
#include "../broker/broker.h"
#include <sys/socket.h>

#define MAX_ALIASES 4

/* The words of a start, each NUL-terminated. */
struct words {
  char *bytes;
  size_t length, size, count;
};

/* The started file, and the names of listed programs that it is the same as. */
struct image {
  dev_t device;
  ino_t inode;
  char path[PATH_MAX];
  const char *aliases[MAX_ALIASES];
  size_t alias_count;
  int is_secret; /* the command's user cannot read it: it may be a copy of any program */
  int is_asked;  /* the parent judges it, as the program or among the words */
  int has_line; /* it begins like an interpreter line */
};

/* words.c */
int add_word(struct words *w, const char *text, size_t length);
int read_words(const struct call *c, uint64_t from, struct words *w);
int follow_interpreters(const struct call *c, int file, const char *path, struct words *w);
const char *base_name(const char *path);

/* table.c */
int programs_take_line(char *line);
int programs_is_on(void);
int is_listed(const struct image *image, const char *path, const struct words *w);

/* identity.c */
int add_identity(const char *path, const char *name);
void note_identities(void);
int look_at_image(const char *path, struct image *image);
extern const char ASKED_FILE[]; /* the name of a file that is asked about, whatever it is */
void add_aliases(struct image *image, const struct image *other);
int asks_for_operands(void);
int is_loader(const struct image *image);

/* chain.c */
size_t write_chain(pid_t tid, char *into, size_t size);
pid_t parent_of(pid_t pid);

/* tree.c */
void note_started(pid_t pid, const struct image *image, const struct words *w);
void programs_tell(void);
/* defined in init/messages.c */
void programs_send(uint32_t pid, uint32_t parent, const char *text, size_t length);

/* callers.c */
int callers_take_name(const char *name);
int callers_are_told(void);
uint32_t number_of(pid_t tid);
int number_image(pid_t pid, const struct image *image, const struct words *w);
int name_caller(pid_t tid, uint32_t number, int fd, struct sockaddr *address, socklen_t length);
/* defined in init/messages.c */
void callers_tell(uint32_t number, uint32_t parent, const char *text, size_t length);

/* start.c */
int programs_open(void);
int programs_waiting(void);
int programs_wait_fd(void);
int is_start(int number);
void answer_start(const struct call *c);
void answer_decided(void);
void programs_decide(uint32_t number, int refused);
void programs_ask(uint32_t number, const char *text, size_t length); /* defined in init/messages.c */
/* unjudged words of a killed program */
void programs_report(const char *text, size_t length);

/* stop.c */
int look_at_process(pid_t pid, struct image *image);
int read_command_line(pid_t pid, struct words *w);
int may_reap(void);
void done_reaping(void);
int let_run(const struct call *c, const struct image *judged, const struct words *allowed);
#endif
