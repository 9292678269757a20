/*
 * cordon-launch, an addon for Node. Starts bubblewrap for `cordon run` and waits for it (sandbox.c), because
 * loading `node:child_process` takes longer than the sandbox itself. Does with files what Node cannot
 * (files.c), hashes (sha256.c), and ends the process.
 *
 *   exit(code)    ends this process at once, without Node's cleanup
 *   die(signal)   the same by a signal, as the command ended, without a core dump of Node
 */
#define _GNU_SOURCE
#include "../addon.h"
#include "launch.h"
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

static napi_value exit_now(napi_env env, napi_callback_info info) {
  double code;
  if (!takes_number(env, info, &code)) {
    napi_throw_error(env, NULL, "cordon-launch: exit takes a code");
    return NULL;
  }
  _exit((int)code);
}

static napi_value die(napi_env env, napi_callback_info info) {
  double given;
  sigset_t only;
  if (!takes_number(env, info, &given) || given < 1 || given >= NSIG) {
    napi_throw_error(env, NULL, "cordon-launch: die takes a signal");
    return NULL;
  }
  int number = (int)given;
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  signal(number, SIG_DFL);
  sigemptyset(&only);
  sigaddset(&only, number);
  pthread_sigmask(SIG_UNBLOCK, &only, NULL);
  raise(number);
  _exit(128 + number); /* for a signal that does not end the process */
}

__attribute__((visibility("default"))) int node_api_module_get_api_version_v1(void) { return 8; }

__attribute__((visibility("default"))) napi_value napi_register_module_v1(napi_env env, napi_value exports) {
  const struct addon_function functions[] = {{"start", start_sandbox},
                                             {"waits", sandbox_waits},
                                             {"swap", swap_sandbox},
                                             {"attend", attend_sandbox},
                                             {"abandon", abandon_sandbox},
                                             {"times", set_times},
                                             {"attributes", give_attributes},
                                             {"has_attributes", ask_attributes},
                                             {"watch", watch_changes},
                                             {"unwatch", unwatch_changes},
                                             {"lock", lock_file},
                                             {"sha256", hash_bytes},
                                             {"exit", exit_now},
                                             {"die", die}};
  return with_functions(env, exports, functions, sizeof functions / sizeof *functions);
}
