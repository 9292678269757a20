/* Declarations shared by the files of cordon-init. cordon-init.c starts the command,
 * setup-message.c reads the setup message, messages.c sends messages to the parent. places.c masks and
 * pins, rights.c drops rights, cgroups.c joins control groups. listeners.c hands listeners to the
 * parent and servers.c forwards ports. streams.c and terminal.c carry the command's bytes, watch.c
 * waits for the end. */
#ifndef INIT_H
#define INIT_H
#include "protocol.h"
#include <linux/filter.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FAULT_STATUS 125

struct place {
  uint8_t kind; /* RECORD_MASK or RECORD_PIN */
  uint8_t flags;
  const char *path;
  uint32_t index; /* among masks, or among pins */
  uint64_t device, inode;
  /* the object at its path after the mounts; zeros if absent */
  struct { uint64_t mount, device, inode; } mounted;
  uint8_t reported, has_face, face_flags;
  const uint8_t *face;
  uint32_t face_length;
};

struct setup {
  char **argv, **envp;
  size_t argc, envc;
  const char *cwd;
  struct place *places, *bound;
  size_t place_count, mask_count, bound_count;
  struct { uint8_t flags; const char *path; } readonly[8];
  size_t readonly_count;
  struct { uint32_t which; uint64_t limit; } limits[16];
  size_t limit_count;
  struct sock_fprog filter;
  uint32_t uid, gid;
  uint16_t rows, cols, port;
  uint16_t servers[MAX_SERVERS];
  size_t server_count;
  int any_server;
  struct { uint32_t address; uint16_t port; } listeners[MAX_LISTENERS];
  size_t listener_count;
  uint32_t milliseconds;
  uint16_t refused_port;
  int has_names;
  uint8_t terminal_fds;
  uint32_t process_numbers, memory_share;
  int has_ids, has_terminal, has_listener, has_gate;
};
extern struct setup setup;

/* setup-message.c */
void read_setup_message(void);
_Noreturn void bad_setup(uint32_t offset);
void read_exactly(int fd, void *into, size_t size);
uint16_t u16_at(const uint8_t *p);
void *allocate(size_t count, size_t size);

/* messages.c */
extern int control;     /* the socket to the parent */
extern int exec_report; /* in the child: receives a failure before exec */
void send_message(uint32_t type, uint32_t a, uint32_t b, uint32_t c);
_Noreturn void fail_at(enum step step, uint32_t index);
_Noreturn void fail(enum step step);

/* places.c */
int open_place(const char *path);
int is_out_of_reach(const char *path);
void check_bound(void);
int mask_all(void);
void note_places(void);
void check_places(void);
void make_readonly(const char *path, int recursive);
void index_masks(void);
int has_watched_masks(void);
void report_opens(int watch);
void report_lifted(void);

/* rights.c */
void write_at(int dir, const char *name, const char *text, enum step step);
void limit_process_numbers(int proc);
void leave_mount_owner(int proc);
void keep_capability(int cap, int keeps);
void drop_capabilities(void);
void set_limits(int core);

/* cgroups.c */
extern int joining; /* until the cgroups are joined */
int enter_cgroups(int argc, char **argv);
void greet_joiner(void);
void wait_until_joined(void);

/* listeners.c */
extern int ipc; /* kept open only if servers inside are to be reached */
int send_handle(const char *message, int handle);
void hand_over_listeners(void);
void await_handover(void);
void drain_acks(void);

/* servers.c */
#define SERVER_FDS 2
int servers_open(void);
void servers_watch(struct pollfd *fds);
void servers_serve(const struct pollfd *fds);
int servers_wait_ms(void);
int answer_connect(uint16_t port, uint16_t id);

/* streams.c */
#define STREAM_FDS 3
struct relay {
  char bytes[16384];
  size_t from, to;
};
int is_blocked(void);
int flush_relay(struct relay *r, int fd, int is_socket);
void hand_in_streams(void);
void streams_watch(struct pollfd *fds);
void streams_serve(const struct pollfd *fds);
int drain_wait_ms(size_t pending);
void drain_pumps(void);
void give_input_back(void);

/* terminal.c */
#define TERMINAL_FDS 3
void open_terminal(void);
void own_terminal(void);
void enter_terminal(void);
int terminal_fd(void);
void resize_terminal(uint16_t rows, uint16_t cols);
void terminal_watch(struct pollfd *fds);
void terminal_serve(void);
void drain_terminal(void);

/* watch.c */
extern pid_t command_pid;
uint64_t now_ms(void);
void wait_at_gate(void);
void wait_for_start(int report);
void start_clocks(void);
_Noreturn void watch_over(int signals, int watch, int mounts);
#endif
