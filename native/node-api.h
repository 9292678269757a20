/* The functions of Node-API that the addons call. Its ABI is stable; its header is not on every
 * machine with Node. */
#ifndef CORDON_NODE_API_H
#define CORDON_NODE_API_H
#include <stddef.h>
#include <stdint.h>

typedef struct napi_env__ *napi_env;
typedef struct napi_value__ *napi_value;
typedef struct napi_callback_info__ *napi_callback_info;
typedef struct napi_handle_scope__ *napi_handle_scope;
typedef napi_value (*napi_callback)(napi_env, napi_callback_info);
extern int napi_create_function(napi_env, const char *, size_t, napi_callback, void *, napi_value *);
extern int napi_set_named_property(napi_env, napi_value, const char *, napi_value);
extern int napi_get_cb_info(napi_env, napi_callback_info, size_t *, napi_value *, napi_value *, void **);
extern int napi_get_buffer_info(napi_env, napi_value, void **, size_t *);
extern int napi_get_value_double(napi_env, napi_value, double *);
extern int napi_create_buffer_copy(napi_env, size_t, const void *, void **, napi_value *);
extern int napi_create_int32(napi_env, int32_t, napi_value *);
extern int napi_throw_error(napi_env, const char *, const char *);
extern int napi_get_null(napi_env, napi_value *);
extern int napi_get_undefined(napi_env, napi_value *);
extern int napi_call_function(napi_env, napi_value, napi_value, size_t, const napi_value *, napi_value *);
extern int napi_open_handle_scope(napi_env, napi_handle_scope *);
extern int napi_close_handle_scope(napi_env, napi_handle_scope);

#endif
