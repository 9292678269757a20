/* Shared by the client, the keeper and the workers of a resident Cordon: paths, messages, checks. */
#ifndef CORDON_RESIDENT_H
#define CORDON_RESIDENT_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { MAGIC = 0x72647243, MAX_INPUT = 64 * 1024 * 1024 };

/* The files of a build, by attributes that only the kernel sets: Node, the program, the client. */
struct stamp {
  uint64_t facts[3][6];
};

/* All on a SOCK_SEQPACKET connection: hello, ready, go with its descriptors, done. Nothing runs
 * before `go`. */
struct hello {
  uint32_t magic;
  struct stamp stamp;
};
enum answer { READY = 1, ELSEWHERE, STALE };
struct ready {
  uint32_t magic;
  uint32_t answer;
  int32_t pid;
  /* a descriptor of the worker: a process that may inspect the worker opens it and returns it */
  int32_t proof;
};
enum handed {
  HANDED_PAYLOAD,
  HANDED_CWD,
  HANDED_STDIN,
  HANDED_STDOUT,
  HANDED_STDERR,
  HANDED_PROOF,
  HANDED_LIFE,
  HANDED
};
struct go {
  uint32_t magic;
  uint32_t umask;
};
struct done {
  uint32_t magic;
  int32_t code; /* an exit code, with the signal to die by in the second byte; or: nothing was started */
};
enum { NOT_BEGUN = -1 };

/* A worker's status for its keeper, in one write. */
struct word {
  int32_t pid;
  char state; /* I: idle, B: busy, S: there is a new build */
};
enum { LISTENER_FD = 3, WORDS_FD, QUIT_FD };

/* The owner's checked directory, as a descriptor; -1 without a trustworthy one. `make` creates it. */
int open_place(const char *runtime_directory, int make);
/* Whether Node reads a variable once, at its start: a resident serves one set of them, and passes
 * them to its workers. */
int is_configuration(const char *variable);
/* The name of the resident for this program, control group and configuration; `suffix` such as
 * ".socket". */
int name_resident(char *into, size_t size, const char *const program[2], const char *suffix);
/* Identifies the files of Node, the program and the client; 0 if one cannot be checked. */
int take_stamp(struct stamp *into, const char *const program[2]);
/* The inherited state of a process: users, groups, capabilities, namespaces, root, control group,
 * labels, filters, limits, priorities. 0 if unknown. Landlock domains are in no file; the proof
 * covers them. */
size_t read_surroundings(pid_t pid, char *into, size_t size);
enum { SURROUNDINGS = 16384 };
/* A descriptor's path for calls that take only paths. */
void path_below(char *into, size_t size, int directory, const char *name);

int keep_resident(const char *const program[2], const char *runtime_directory, long idle_seconds);
#endif
