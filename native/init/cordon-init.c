/*
 * cordon-init: the first process of a sandbox. bubblewrap creates the namespaces and the baseline, and starts
 * this program as pid 1. It mounts, drops rights, starts the command, and stays to reap and watch.
 *
 *   cordon-init CONTROL_FD STDIO_FD [IPC_FD] [hHOST_FD] [jJOIN_FD]
 *       Inside: reads the setup message from CONTROL_FD. The command's stdin, stdout and stderr are STDIO_FD
 *       and the next two. JOIN_FD reports that the cgroups are joined; nothing starts before. HOST_FD is the
 *       host's root directory, by which the broker finds the folder for kept files.
 *   cordon-init bare CONTROL_FD …
 *       The same without namespaces, if the kernel refuses them (bare/bare.h).
 *   cordon-init enter FILE... -- PROG ARG...
 *       Outside: exec PROG, which runs the above, with a last argument jJOIN_FD. It and its child join the
 *       cgroups whose cgroup.procs are named.
 *
 * protocol.h describes the setup message and the messages after it; init.h lists the files.
 */
#define _GNU_SOURCE
#include "init.h"
#include "../bare/bare.h"
#include "../broker/broker.h"
#include "learn.h"
#include "local-sockets.h"
#include "names.h"
#include "../programs/programs.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/mount.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int host = -1; /* the host's root, until the broker has opened it */

/* bubblewrap's monitor keeps descriptors 0 to 2 until it ends, so the command's have other numbers:
 * their readers then see the end with the command. Leaked descriptors are closed here. */
static void settle_descriptors(int stdio) {
  for (int fd = 0; fd < 3; fd++)
    if (dup2(stdio + fd, fd) < 0) fail(STEP_ORDERS);
  fcntl(control, F_SETFD, FD_CLOEXEC);
  if (ipc >= 0) fcntl(ipc, F_SETFD, FD_CLOEXEC);
  fcntl(control, F_SETFL, fcntl(control, F_GETFL) & ~O_NONBLOCK);
  if (joining >= 0) fcntl(joining, F_SETFD, FD_CLOEXEC);
  if (host >= 0) fcntl(host, F_SETFD, FD_CLOEXEC);
  int last = control > ipc ? control : ipc;
  if (joining > last) last = joining;
  if (host > last) last = host;
  for (int fd = 3; fd <= last; fd++)
    if (fd != control && fd != ipc && fd != joining && fd != host) close(fd);
  if (syscall(SYS_close_range, (unsigned)last + 1, ~0u, 0)) fail(STEP_ORDERS);
}

static void prepare_broker(void) {
  for (size_t i = 0; i < setup.place_count; i++) {
    struct place *p = &setup.places[i];
    if (p->kind == RECORD_MASK && (p->flags & MASK_UNWATCHED)) continue; /* files of /proc cannot be moved */
    if (broker_hold(p->path)) fail(STEP_BROKER);
  }
  if (broker_prepare(host)) fail(STEP_BROKER);
}

/* Refuses records that need namespaces. */
static void check_bare_setup(void) {
  if (setup.readonly_count || setup.process_numbers || setup.memory_share || setup.has_names ||
      setup.server_count || setup.any_server)
    bad_setup(0);
  if (setup.listener_count || local_sockets_count() || learn_is_on() || joining >= 0 ||
      !broker_is_safe_alone())
    bad_setup(0);
}

static _Noreturn void run_command(void) {
  sigset_t none;
  if (setup.has_terminal) enter_terminal();
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  for (int signal_number = 1; signal_number < NSIG; signal_number++) signal(signal_number, SIG_DFL);
  /* Its own session: without a controlling terminal, /dev/tty cannot reach the caller's. */
  if (!setup.has_terminal && setsid() < 0) fail(STEP_TERMINAL);
  if (chdir(setup.cwd)) fail(STEP_DIRECTORY);
  set_limits(0);
  environ = setup.envp;
  /* All descriptors are close-on-exec already; this covers a forgotten one. */
  if (syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC)) fail(STEP_EXEC);
  if (broker_is_on()) {
    keep_capability(CAP_SYS_PTRACE, 0);
    /* The broker takes its filter and reads its memory for the first start, so it must be dumpable.
     * No other process is here yet. */
    if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)) fail(STEP_BROKER);
    if (broker_wall() || broker_listen(&setup.filter, exec_report)) fail(STEP_BROKER);
  }
  execvp(setup.argv[0], setup.argv);
  fail(STEP_EXEC);
}

int main(int argc, char **argv) {
  if (argc >= 2 && !strcmp(argv[1], "enter")) return enter_cgroups(argc, argv);
  int bare = argc > 3 && !strcmp(argv[1], "bare");
  if (bare) argv++, argc--;
  if (argc > 3 && argv[argc - 1][0] == 'j') joining = atoi(argv[--argc] + 1);
  if (argc > 3 && argv[argc - 1][0] == 'h') host = atoi(argv[--argc] + 1);
  if (argc < 3 || argc > 4 || (bare ? joining >= 0 : getpid() != 1)) return FAULT_STATUS;
  if (bare) bare_guard();
  control = atoi(argv[1]);
  int stdio = atoi(argv[2]);
  ipc = argc == 4 ? atoi(argv[3]) : -1;
  if (control < 3 || stdio < 3 || control > 64 || ipc > 64 || (ipc >= 0 && ipc < 3)) return FAULT_STATUS;
  if (joining > 64 || (joining >= 0 && joining < 3)) return FAULT_STATUS;
  if (host > 64 || (host >= 0 && host < 3)) return FAULT_STATUS;
  settle_descriptors(stdio);
  greet_joiner();

  /* Later mounts of the host must not appear here, with the host's flags. The setup message may
   * take a while. */
  if (!bare && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)) fail(STEP_PRIVATE);
  read_setup_message();
  if (bare != bare_is_on()) bad_setup(0);
  if (bare) check_bare_setup();
  /* A parent without sockets receives ports too. */
  if (!setup.any_server && (setup.has_listener || setup.server_count) != (ipc >= 0)) bad_setup(0);
  if ((setup.has_listener || setup.server_count) && ipc < 0) bad_setup(0);
  if (setup.has_listener && !bare) hand_over_listeners();
  if (setup.has_listener && bare && bare_open_proxy()) fail(STEP_LISTENER);
  if (local_sockets_open()) fail(STEP_LISTENER);
  if (setup.has_names && names_open(setup.refused_port)) fail(STEP_LISTENER);
  if (servers_open()) fail(STEP_LISTENER);

  /* A second, plain mount of /proc for this program's writes; the visible one becomes read-only. */
  int proc = bare ? open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC)
                  : (int)syscall(SYS_open_tree, AT_FDCWD, "/proc", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  if (proc < 0) fail(STEP_PROC);
  if (setup.process_numbers) limit_process_numbers(proc);
  check_bound();
  if (broker_is_on()) prepare_broker();
  if (host >= 0) close(host);
  int watch = bare ? -1 : mask_all();
  if (bare) bare_record_masks();
  for (size_t i = 0; !bare && i < setup.readonly_count; i++)
    make_readonly(setup.readonly[i].path, setup.readonly[i].flags & 1);
  if (setup.has_gate) {
    note_places();
    wait_at_gate();
    check_places();
  }

  if (!bare) leave_mount_owner(proc);
  wait_until_joined();
  /* If memory runs out, the kernel kills this before the person's programs. */
  write_at(proc, "self/oom_score_adj", "300", STEP_LIMITS);
  close(proc);
  int mounts = watch >= 0 ? open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC) : -1;

  hand_in_streams();
  if (setup.has_terminal) open_terminal();
  set_limits(1);
  drop_capabilities();
  /* It has the command's uid: a process that is not dumpable cannot be traced, and its /proc
   * descriptors cannot be opened. */
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) || (!bare && prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)))
    fail(STEP_CAPABILITIES);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) fail(STEP_NO_NEW_PRIVS);
  if (!broker_is_on() && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &setup.filter)) fail(STEP_SECCOMP);

  if (setup.has_listener && !bare)
    for (size_t i = 0; i <= setup.listener_count; i++) await_handover();
  if (ipc >= 0 && !(bare && setup.has_listener) && !setup.server_count && !setup.any_server &&
      !local_sockets_count()) {
    close(ipc);
    ipc = -1;
  }

  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  int signals = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
  /* Each judged program start stops once; only stops of a terminal are reported. */
  if (!setup.has_terminal)
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP}, NULL);
  int report[2];
  if (signals < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, report)) fail(STEP_FORK);
  start_clocks();
  own_terminal();
  command_pid = fork();
  if (command_pid < 0) fail(STEP_FORK);
  if (command_pid == 0) {
    exec_report = report[1];
    run_command();
  }
  close(report[1]);
  for (int fd = 0; fd < 3 && !setup.has_terminal; fd++) broker_note_stream(fd);
  if (!setup.has_terminal) { /* no copies of the streams: the other end must see what the command closes */
    close(0);
    close(1);
  }
  close(2);
  uint32_t failure[3];
  if (broker_is_on() && broker_serve(report[0], command_pid, failure)) {
    send_message(MESSAGE_FAILED, failure[0] ? failure[0] : STEP_BROKER,
                 failure[0] ? failure[1] : (uint32_t)errno, failure[2]);
    _exit(FAULT_STATUS);
  }
  wait_for_start(report[0]);
  ssize_t n = read(report[0], failure, sizeof failure);
  if (n == (ssize_t)sizeof failure) {
    send_message(MESSAGE_FAILED, failure[0], failure[1], failure[2]);
    _exit(FAULT_STATUS);
  }
  close(report[0]);
  index_masks();
  send_message(MESSAGE_READY, bare || watch >= 0 || !has_watched_masks(), 0, 0);
  watch_over(signals, watch, mounts);
}
