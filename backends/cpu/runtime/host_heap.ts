/**
 * Memory for array buffers whose blocks come back to us when the collector drops the buffer, as a C++ translation
 * unit. Output: the text of a Node-API module whose export is `allocate(bytes, make)`: an ArrayBuffer on a block
 * that came back, or on a new one if `make` is nonzero, or undefined. Invariant: the blocks in use and those kept
 * never exceed the limit; a block is in use or in the list, never both. Buffers may be dropped on any thread.
 */

/** The text, for blocks of `limit` bytes altogether. */
export function hostHeapSource(limit: number): string {
  return String.raw`
typedef unsigned long UL;
typedef struct Environment* napi_env;
typedef struct Value* napi_value;
typedef struct CallInfo* napi_callback_info;
typedef void (*Finalizer)(napi_env, void* data, void* hint);
typedef napi_value (*Callback)(napi_env, napi_callback_info);
extern "C" {
int napi_create_external_arraybuffer(napi_env, void*, UL, Finalizer, void*, napi_value*);
int napi_get_cb_info(napi_env, napi_callback_info, UL*, napi_value*, napi_value*, void**);
int napi_get_value_int64(napi_env, napi_value, long*);
int napi_create_function(napi_env, const char*, UL, Callback, void*, napi_value*);
int posix_memalign(void**, UL, UL);
void free(void*);
}
enum { MOST = 1024, ALIGNMENT = 64 };
static const long LIMIT = ${limit};
struct Block { void* data; long bytes; };
static Block kept[MOST];   // oldest first
static int count = 0;
static long total = 0;     // bytes of all blocks, kept or in use
static char locked = 0;
struct Lock {
  Lock() { while (__atomic_test_and_set(&locked, __ATOMIC_ACQUIRE)) {} }
  ~Lock() { __atomic_clear(&locked, __ATOMIC_RELEASE); }
};
static Block removed(int at) {
  const Block block = kept[at];
  for (int i = at + 1; i < count; i++) kept[i - 1] = kept[i];
  count--;
  return block;
}
static void come_back(napi_env, void* data, void* hint) {
  const long bytes = (long) hint;
  Lock lock;
  if (count < MOST) { kept[count++] = {data, bytes}; return; }
  total -= bytes;
  free(data);
}
// the block that came back last is the likeliest to be in a cache
static void* take(long bytes, bool make) {
  Lock lock;
  for (int i = count - 1; i >= 0; i--) if (kept[i].bytes == bytes) return removed(i).data;
  if (!make) return 0;
  while (total + bytes > LIMIT && count > 0) {
    const Block oldest = removed(0);
    total -= oldest.bytes;
    free(oldest.data);
  }
  void* data = 0;
  if (total + bytes > LIMIT || posix_memalign(&data, ALIGNMENT, (UL) bytes) != 0) return 0;
  total += bytes;
  return data;
}
static napi_value allocate(napi_env env, napi_callback_info info) {
  UL arguments = 2;
  napi_value argument[2];
  long bytes = 0, make = 0;
  if (napi_get_cb_info(env, info, &arguments, argument, 0, 0) != 0) return 0;
  if (napi_get_value_int64(env, argument[0], &bytes) != 0 || napi_get_value_int64(env, argument[1], &make) != 0) return 0;
  void* data = take(bytes, make != 0);
  if (!data) return 0;
  napi_value buffer;
  if (napi_create_external_arraybuffer(env, data, (UL) bytes, come_back, (void*) bytes, &buffer) == 0) return buffer;
  come_back(env, data, (void*) bytes);
  return 0;
}
extern "C" __attribute__((visibility("default"))) int node_api_module_get_api_version_v1() { return 8; }
extern "C" __attribute__((visibility("default"))) napi_value napi_register_module_v1(napi_env env, napi_value) {
  napi_value result = 0;
  napi_create_function(env, "allocate", 8, allocate, 0, &result);
  return result;
}
`;
}
