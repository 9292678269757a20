/* Functions of the addon: sandbox.c, files.c and sha256.c define them, addon.c exports them to Node. */
#ifndef LAUNCH_H
#define LAUNCH_H
#include "../node-api.h"

/* sandbox.c */
napi_value start_sandbox(napi_env env, napi_callback_info info);
napi_value sandbox_waits(napi_env env, napi_callback_info info);
napi_value swap_sandbox(napi_env env, napi_callback_info info);
napi_value attend_sandbox(napi_env env, napi_callback_info info);
napi_value abandon_sandbox(napi_env env, napi_callback_info info);

/* files.c */
napi_value set_times(napi_env env, napi_callback_info info);
napi_value give_attributes(napi_env env, napi_callback_info info);
napi_value ask_attributes(napi_env env, napi_callback_info info);
napi_value watch_changes(napi_env env, napi_callback_info info);
napi_value unwatch_changes(napi_env env, napi_callback_info info);
napi_value lock_file(napi_env env, napi_callback_info info);

/* sha256.c */
napi_value hash_bytes(napi_env env, napi_callback_info info);
#endif
