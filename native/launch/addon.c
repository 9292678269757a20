/*
 * cordon-launch, an addon of Node's: starts bubblewrap for `cordon run` and waits for it (sandbox.c), because `node:child_process`
 * and its streams take a start longer than the sandbox itself; does what Node cannot do with files (files.c); and ends the process.
 *
 *   exit(code)                          ends this process at once: Node's own clearing up is of use to nobody
 *   die(signal)                         the same by a signal, as the command did, and without a core of Node's
 */
#define _GNU_SOURCE
#include "launch.h"
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static napi_value exit_now(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value given[1];
  double code;
  if (napi_get_cb_info(env, info, &count, given, NULL, NULL) || count != 1 || napi_get_value_double(env, given[0], &code)) {
    napi_throw_error(env, NULL, "cordon-launch: exit takes a code");
    return NULL;
  }
  _exit((int)code);
}

static napi_value die(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value given;
  double given_number;
  sigset_t only;
  if (napi_get_cb_info(env, info, &count, &given, NULL, NULL) || count != 1 || napi_get_value_double(env, given, &given_number) ||
      given_number < 1 || given_number >= NSIG) {
    napi_throw_error(env, NULL, "cordon-launch: die takes a signal");
    return NULL;
  }
  int number = (int)given_number;
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  signal(number, SIG_DFL);
  sigemptyset(&only);
  sigaddset(&only, number);
  pthread_sigmask(SIG_UNBLOCK, &only, NULL);
  raise(number);
  _exit(128 + number); /* one that ends nobody */
}

__attribute__((visibility("default"))) int node_api_module_get_api_version_v1(void) { return 8; }

__attribute__((visibility("default"))) napi_value napi_register_module_v1(napi_env env, napi_value exports) {
  const struct {
    const char *name;
    napi_callback function;
  } functions[] = {
      {"start", start_sandbox}, {"waits", sandbox_waits}, {"swap", swap_sandbox}, {"attend", attend_sandbox}, {"abandon", abandon_sandbox},
      {"times", set_times}, {"attributes", give_attributes}, {"has_attributes", ask_attributes},
      {"watch", watch_changes}, {"unwatch", unwatch_changes},
      {"exit", exit_now}, {"die", die}};
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    napi_value function;
    if (napi_create_function(env, functions[i].name, strlen(functions[i].name), functions[i].function, NULL, &function) ||
        napi_set_named_property(env, exports, functions[i].name, function))
      return NULL;
  }
  return exports;
}
