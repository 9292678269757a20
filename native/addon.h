/* Shared by all addons: reads one numeric argument, and exports functions to Node. */
#ifndef CORDON_ADDON_H
#define CORDON_ADDON_H
#include "node-api.h"
#include <string.h>

struct addon_function {
  const char *name;
  napi_callback function;
};

/* Whether the call has exactly one argument, a number; stores it. */
static inline int takes_number(napi_env env, napi_callback_info info, double *number) {
  size_t count = 1;
  napi_value given;
  return !napi_get_cb_info(env, info, &count, &given, NULL, NULL) && count == 1 &&
         !napi_get_value_double(env, given, number);
}

static inline napi_value with_functions(napi_env env, napi_value exports,
                                        const struct addon_function *functions, size_t count) {
  for (size_t i = 0; i < count; i++) {
    napi_value function;
    if (napi_create_function(env, functions[i].name, strlen(functions[i].name), functions[i].function, NULL,
                             &function) ||
        napi_set_named_property(env, exports, functions[i].name, function))
      return NULL;
  }
  return exports;
}

#endif
