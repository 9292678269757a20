/* What the client, the keeper and the workers of a resident Cordon have in common: the place, the messages, the checks. */
#ifndef CORDON_RESIDENT_H
#define CORDON_RESIDENT_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { MAGIC = 0x72647243, MAX_INPUT = 64 * 1024 * 1024 };

/* Which files a build consists of, by what only the kernel sets; Node, the program, the client. */
struct stamp {
  uint64_t facts[3][6];
};

/* All on a SOCK_SEQPACKET connection: hello, ready, go with its descriptors, done. Only after `go` anything is run. */
struct hello {
  uint32_t magic;
  struct stamp stamp;
};
enum answer { READY = 1, ELSEWHERE, STALE };
struct ready {
  uint32_t magic;
  uint32_t answer;
  int32_t pid;
  int32_t proof; /* a descriptor of the worker: who may look into it may open this, and hands it back */
};
enum handed { HANDED_PAYLOAD, HANDED_CWD, HANDED_STDIN, HANDED_STDOUT, HANDED_STDERR, HANDED_PROOF, HANDED_LIFE, HANDED };
struct go {
  uint32_t magic;
  uint32_t umask;
};
struct done {
  uint32_t magic;
  int32_t code; /* an exit code, and in the second byte the signal to die by; or: nothing was begun */
};
enum { NOT_BEGUN = -1 };

/* What a worker tells its keeper, whole or not at all. */
struct word {
  int32_t pid;
  char state; /* I: idle, B: busy, S: there is a new build */
};
enum { LISTENER_FD = 3, WORDS_FD, QUIT_FD };

/* The owner's directory, verified, as a descriptor; -1 when there is none that can be believed. Made where `make`. */
int open_place(const char *runtime_directory, int make);
/* True for a variable that Node reads once, at its start: a resident is for one set of them, and hands them to its workers. */
int is_configuration(const char *variable);
/* The name of the resident for this program, in this control group, with this configuration; `suffix` such as ".socket". */
int name_resident(char *into, size_t size, const char *const program[2], const char *suffix);
/* Which files Node, the program and the client are; 0 when one cannot be checked. */
int take_stamp(struct stamp *into, const char *const program[2]);
/*
 * All that a process hands down to what it starts and that another would not have: users, groups, capabilities,
 * namespaces, root, control group, labels, filters, limits, priorities. 0 when it cannot be known. Walls that no file tells
 * of (Landlock) are what the proof is for.
 */
size_t read_surroundings(pid_t pid, char *into, size_t size);
enum { SURROUNDINGS = 16384 };
/* A descriptor's path for calls that take only paths. */
void path_below(char *into, size_t size, int directory, const char *name);

int keep_resident(const char *const program[2], const char *runtime_directory, long idle_seconds);
#endif
