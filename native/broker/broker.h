/* The file broker. The command's Landlock domain has no right to change anything in the roots. A
 * seccomp filter sends every call that would to the broker, which resolves the path, judges the
 * change, keeps the lost data, performs the change and passes the descriptor to the caller. Outside
 * the roots the kernel continues the call, and Landlock decides.
 *
 * broker.c answers the calls, open.c those that open, change.c the others. path.c resolves paths
 * and parent.c caches directories. rules.c judges; git.c and git-key.c read git's configuration,
 * and repository.c finds its repositories. journal.c records changes, keep.c keeps lost data,
 * seen.c knows what needs no keeping, attributes.c keeps attributes. listen.c reports servers;
 * connect.c and datagrams.c confine unix sockets. */
#ifndef BROKER_H
#define BROKER_H
#include "../init/protocol.h"
#include <dirent.h>
#include <limits.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/un.h>

/* One call that waits for its answer. */
struct call {
  int listener;
  uint64_t id;
  pid_t tid;
  int number; /* the system call's */
  const uint64_t *args;
};

/* A resolved path. */
struct spot {
  int parent; /* the directory with the name; -1 if the caller passed a descriptor */
  int is_there; /* whether it exists */
  int is_nameless; /* passed as a descriptor, and its path does not resolve to it any more */
  int object; /* the object itself, not a link's target; -1 until open_object() */
  char name[NAME_MAX + 2]; /* as the caller wrote it, with at most one trailing slash */
  struct stat about; /* of the object */
  struct stat folder; /* of the parent */
  uint64_t mount, folder_mount; /* the mounts of the two; 0 if unknown */
  struct parent *known; /* the cached parent with the descriptor; NULL if the spot owns it */
  dev_t start_device; /* the starting directory of a relative path; inode 0 if not checked */
  ino_t start_inode;
  uint64_t start_mount;
  char path[PATH_MAX]; /* canonical, without a trailing slash */
  const struct broker_place *place;
};

struct broker_place {
  enum place_kind kind;
  const char *path;
  size_t length;
  /* the same directory by the host's mount, which also contains the folder for kept files; -1
   * without */
  int host;
  uint64_t mount; /* its mount; 0 if unknown */
};

enum change {
  CHANGE_MAKE = 1,
  CHANGE_WRITE,
  CHANGE_REMOVE,
  CHANGE_MOVE,
  CHANGE_PLACE,
  CHANGE_FOLDER,
  CHANGE_UNFOLDER,
  CHANGE_MODE,
  CHANGE_POINTER
};

/* broker.c */
void answer(const struct call *c, int error);
void answer_with(const struct call *c, int64_t result); /* a negative result is an error */
void let_go_on(const struct call *c);
void leave_outside(const struct call *c, const struct spot *s);
void answer_or_go_on(const struct call *c, int error);
void not_found(const struct call *c);
void try_later(const struct call *c);
void hand_in(const struct call *c, int fd, int flags);
mode_t umask_of(pid_t tid);
void note_umask(unsigned mask);
void use_umask(mode_t mask);
int broker_take_place(enum place_kind kind, const char *path);
int broker_is_on(void);
int broker_is_safe_alone(void);
const struct broker_place *any_root(void);
const struct broker_place *place_of(const char *path);
int is_ours(const struct spot *s);
int is_loose(const struct spot *s);
int is_private(const struct spot *s);
int are_roots_in_place(void);
int broker_prepare(int host);
int broker_wall(void);
int broker_listen(const void *filter, int report);
int broker_serve(int report, pid_t command, uint32_t failure[3]);
void broker_shut(void);
void broker_report(uint32_t type, uint32_t a, uint32_t b, uint32_t c); /* defined in init/messages.c */

/* open.c */
void answer_open(const struct call *c, int at, uint64_t path, int flags, mode_t mode);
void answer_truncate(const struct call *c, uint64_t path, off_t length);
void broker_note_stream(int fd);

/* change.c */
void answer_make(const struct call *c, int at, uint64_t path, mode_t mode, dev_t device);
void answer_symlink(const struct call *c, uint64_t text, int at, uint64_t path);
void answer_link(const struct call *c, int from_at, uint64_t from, int to_at, uint64_t to, int flags);
void answer_remove(const struct call *c, int at, uint64_t path, int flags);
int begin_making(const struct call *c, const struct spot *s, enum change change);
void end_making(const struct call *c, const struct spot *s, int failed);
void refuse_making(const struct call *c, const struct spot *s, int error);
void answer_rename(const struct call *c, int from_at, uint64_t from, int to_at, uint64_t to, unsigned flags);

/* attributes.c */
int keep_attributes_of(int fd, int kept);
void answer_mode(const struct call *c, int at, uint64_t path, mode_t mode, int flags);
void answer_mode_of(const struct call *c, int fd, mode_t mode);
void answer_owner(const struct call *c, int at, uint64_t path, uid_t uid, gid_t gid, int flags);
void answer_owner_of(const struct call *c, int fd, uid_t uid, gid_t gid);
enum time_form { TIME_SECONDS, TIME_MICROSECONDS, TIME_NANOSECONDS };
void answer_times(const struct call *c, int at, uint64_t path, uint64_t times, enum time_form form,
                  int flags);
enum attribute_call { ATTRIBUTE_SET, ATTRIBUTE_REMOVE };
/* -1: the caller passed a descriptor */
void answer_attribute(const struct call *c, const uint64_t *a, enum attribute_call call, int nofollow);

/* connect.c */
void answer_socket_connect(const struct call *c, int number, uint64_t from, uint64_t length);
void answer_bind(const struct call *c, int number, uint64_t from, uint64_t length);

int is_unix_socket(int fd);
int take_own_socket(struct spot *s, int *object);
socklen_t name_object_address(struct sockaddr_un *address, int object);

/* Runs `work` on a copy of its argument in a small thread. -1 if too many run already. */
struct helpers {
  atomic_int running;
  int most;
};
int work_apart(struct helpers *helpers, void (*work)(void *), const void *with, size_t size);

/* datagrams.c */
void note_caller(pid_t tid);
int continue_send(const struct call *c);
void answer_datagram_socket(const struct call *c);
void answer_send(const struct call *c, int number, uint64_t bytes, uint64_t length, int flags,
                 uint64_t address, uint64_t address_length);
void answer_send_message(const struct call *c, int number, uint64_t from, int flags);
void answer_send_messages(const struct call *c, int number, uint64_t from, unsigned count, int flags);

/* listen.c */
int socket_of(const struct call *c, int number);
void answer_listen(const struct call *c, int number, int backlog);
int reports_servers(void); /* defined in init/servers.c, as is */
void servers_changed(int known); /* `known` is 0 if the server may start only after this */

/* path.c */
int copy_memory(const struct call *c, uint64_t from, void *into, size_t size);
int copy_text(const struct call *c, uint64_t from, char *into, size_t size);
int is_dot(const struct spot *s);
int find_spot(const struct call *c, int at, const char *path, int follow, struct spot *s);
int hold_object(const struct call *c, int fd, struct spot *s);
int name_object(struct spot *s);
int find_object(const struct call *c, int fd, struct spot *s);
void leave_spot(struct spot *s);
int open_object(struct spot *s);
void path_of_fd(int fd, char *into);

/* parent.c */
struct parent;
int look_by_name(int at, const char *name, int flags, struct stat *about, uint64_t *mount);
int look_at_start(pid_t tid, int at, struct stat *about, uint64_t *mount);
int find_parent(const struct call *c, int at, const char *path, struct spot *s);
void keep_parent(struct spot *s, const char *path, int links);
void return_parent(struct spot *s);
void forget_parents(void);
int lock_root(const char *path);
int open_lock(int folder, const char *name);
int lock_roots(void);
void unlock_roots(void);
int host_folder(const struct spot *s);

/* rules.c */
int broker_take_rule(uint8_t action, char *pattern);
int broker_hold(const char *path);
void broker_sort_fixed(void);
int judge(const struct spot *s, enum change change);
int is_judged_by_content(const struct spot *s);
int judge_link(const struct spot *s);
int judge_tree(struct spot *from, const struct spot *to);
int contains_fixed(const char *path);

/* git-key.c */
int broker_take_key(char *line);
int broker_take_named_path(const char *text);
int is_on_named_path(const char *path);
int separates_named_path(const char *folder, int exchanged);
int links_named_path(int folder, const char *path);
int move_named_paths(const char *from, const char *to);
int is_harmless_setting(const char *key, const char *value, const char *before);
int address_host(const char *address, char *host);

/* git.c */
int is_own_folder(const char *value);
int was_known_host(const char *before, const char *host);
int place_config(const struct spot *from, const struct spot *to);
int settle_config(int folder, const char *name);
int write_anew(int folder, const char *name, const char *text, size_t size);

/* targets.c */
int broker_take_target(const char *word, const char *path);
int judge_target(const struct spot *s, const char *text);
int judge_targets_of(struct spot *from, const struct spot *to);
DIR *open_list(int folder, const char *of, mode_t *mode);
void close_list(DIR *list, mode_t mode);

/* repository.c */
int judge_repository(const struct spot *s, enum change change);
int judge_link_text(const struct spot *s, const char *target);
int judge_links_of(struct spot *from, const struct spot *to);
int is_repository_config(const struct spot *s);
int is_worktree_folder(struct spot *s);
int is_own_pointer(const struct spot *s);
int write_own_pointer(int fd);

/* look_by_name() stores the times of birth and of inode change in the fields that stat uses for
 * others. */
#define st_born st_ctim
#define st_changed st_atim

/* seen.c */
enum {
  SEEN_MADE = 1,
  SEEN_KEPT = 2,
  SEEN_MODE = 4,
  SEEN_GONE = 8, /* its last name was removed, and it is the kept file */
  SEEN_ATTRIBUTES = 16,
  SEEN_APART = 32, /* gone, and the kept file is a copy */
  SEEN_COUNTED = 64
};
int seen(const struct stat *about);
void see(const struct stat *about, int how);
void see_made(int folder, const char *name); /* without a name: the descriptor itself */
void forget(const struct stat *about);
void see_gone(const struct stat *about, uint32_t number);
uint32_t gone_number(const struct stat *about); /* of a file that see_gone() noted */
int is_shared(const struct spot *s);
void count_links(const struct stat *about); /* all its names belong to this call */
void lose_link(const struct stat *about);

/* journal.c */
int open_journal(int folder);
int has_journal(void);
int journal(char op, const struct spot *s, const struct spot *to, uint8_t kept, uint32_t number);
void journal_failed(const struct spot *s, uint8_t kept, uint32_t number);
void journal_refused(const char *path, enum change change, int error);
void journal_end(void);

/* keep.c */
enum {
  KEPT_LINK = 1,
  KEPT_COPY = 2,
  KEPT_EMPTY = 4,
  KEPT_LOST = 8,
  KEPT_MADE = 16,
  KEPT_ATTRIBUTES = 32,
  KEPT_APART = 64 /* beside one of them: the name got a copy */
};
int broker_take_keep(uint64_t file_bytes, uint64_t all_bytes, uint8_t must, const char *path);
int open_keep(int host);
int keep_by_move(const struct spot *s);
uint8_t keep_removed(struct spot *s, uint32_t *number);
uint8_t keep_written(const struct spot *s, int fd, uint32_t *number);
uint8_t keep_attributes(struct spot *s, uint32_t *number);
void drop_kept(const struct spot *s, uint8_t kept, uint32_t number);
int may_not_lose(uint8_t kept, int appends);
int set_apart(const struct stat *about, int fd);
int separate(struct spot *s, int fd, int with_content);
#endif
