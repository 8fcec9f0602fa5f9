/* A libcuda whose device is the host: memory is malloc's, all work is done at once, and a launch
   calls back. An idle one has no memory and does nothing, so that nothing but the host takes time.
   It has what numgrad asks of cuda.core, and of what cuda.core asks itself; any other
   function does nothing and succeeds. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void *handle;
typedef int (*launched)(const char *kernel, unsigned grid, unsigned block, handle stream, void **);

static launched on_launch;
static long blocks; /* that are allocated */
static int idle;
static uintptr_t next = 0x10000;

static handle new_handle(void) { return (handle)(next += 16); }
static int nothing(void) { return 0; }

void hosted_on_launch(launched function) { on_launch = function; }
/* A thread has no context before it sets one, and a launch may be made to wait for another thread. */
static __thread handle context_of_thread;
static volatile int blocked;
static volatile int is_waiting;
static int was_overdue;
void hosted_block(int is_blocked) { blocked = is_blocked; }
int hosted_is_waiting(void) { return is_waiting; }
int hosted_was_overdue(void) { return was_overdue; }
static void wait_for_others(void) {
    for (int ms = 0; blocked; ms++) {
        is_waiting = 1;
        if (ms > 5000) { blocked = 0; was_overdue = 1; }
        usleep(1000);
    }
    is_waiting = 0;
}

void hosted_be_idle(void) { idle = 1; }
long hosted_blocks(void) { return blocks; }

int cuDriverGetVersion(int *version) { *version = 13000; return 0; }
int cuDeviceGetCount(int *count) { *count = 2; return 0; }
int cuDeviceGet(int *device, int index) { *device = index; return 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    *value = attribute == 75 ? 9 : attribute == 76 ? 0 : attribute == 16 ? 4 : 1; /* sm_90, 4 SMs */
    return 0;
}
int cuDevicePrimaryCtxRetain(handle *context, int device) { *context = (char *)0x1000 + device; return 0; }
int cuCtxSetCurrent(handle context) { context_of_thread = context; return 0; }
int cuCtxGetCurrent(handle *context) { *context = context_of_thread; return 0; }
int cuCtxPushCurrent_v2(handle context) { return cuCtxSetCurrent(context); }
int cuCtxPopCurrent_v2(handle *context) { return cuCtxGetCurrent(context); }
int hosted_device(void) { return (int)((char *)context_of_thread - (char *)0x1000); }
int cuCtxSynchronize(void) { return 0; }
int cuCtxGetDevice(int *device) { *device = hosted_device(); return 0; }
int cuCtxGetStreamPriorityRange(int *least, int *most) { *least = 0; *most = -5; return 0; }

int cuMemGetInfo_v2(size_t *available, size_t *total) { *available = 1 << 20; *total = 1 << 21; return 0; }
int cuDeviceGetDefaultMemPool(handle *pool, int device) { *pool = (handle)0x2000; return 0; }
int cuDeviceGetMemPool(handle *pool, int device) { *pool = (handle)0x2000; return 0; }
int cuMemPoolGetAttribute(handle pool, int attribute, void *value) { *(uint64_t *)value = ~0ull; return 0; }
int cuMemAllocFromPoolAsync(handle *block, size_t bytes, handle pool, handle stream) {
    if (idle) { *block = new_handle(); return 0; }
    if (bytes > 1u << 30) return 2; /* CUDA_ERROR_OUT_OF_MEMORY */
    *block = malloc(bytes);
    memset(*block, 0xFF, bytes);
    blocks++;
    return 0;
}
int cuMemAllocHost_v2(handle *block, size_t bytes) { *block = malloc(bytes); return 0; }
int cuMemFreeHost(handle block) { free(block); return 0; }
int cuMemFreeAsync(handle block, handle stream) {
    if (idle) return 0;
    free(block);
    blocks--;
    return 0;
}
int cuMemcpyAsync(handle to, handle from, size_t bytes, handle stream) {
    if (!idle) memmove(to, from, bytes);
    return 0;
}
int cuPointerGetAttributes(unsigned count, const int *attributes, void **data, handle address) {
    for (unsigned i = 0; i < count; i++) {
        if (attributes[i] == 1) *(handle *)data[i] = (handle)0x1000;     /* the context */
        else if (attributes[i] == 2) *(unsigned *)data[i] = 2;           /* memory of the device */
        else if (attributes[i] == 8 || attributes[i] == 9) *(int *)data[i] = 0;
    }
    return 0;
}

int cuStreamCreateWithPriority(handle *stream, unsigned flags, int priority) { *stream = new_handle(); return 0; }
int cuStreamGetCtx(handle stream, handle *context) { *context = (handle)0x1000; return 0; }
int cuStreamGetDevice(handle stream, int *device) { *device = 0; return 0; }
int cuStreamGetFlags(handle stream, unsigned *flags) { *flags = 1; return 0; }
int cuStreamGetPriority(handle stream, int *priority) { *priority = 0; return 0; }
/* A graph is a number; whoever is called back keeps what is launched while it is made. */
static handle capturing, capturing_stream;
handle hosted_capturing(void) { return capturing; }
int cuStreamIsCapturing(handle stream, int *status) {
    *status = capturing != NULL && stream == capturing_stream;
    return 0;
}
int cuStreamGetCaptureInfo(handle stream, int *status, uint64_t *id, handle *graph) {
    cuStreamIsCapturing(stream, status);
    if (id != NULL) *id = 1;
    if (graph != NULL) *graph = capturing;
    return 0;
}
int cuStreamBeginCapture_v2(handle stream, int mode) {
    capturing = new_handle();
    capturing_stream = stream;
    return 0;
}
int cuStreamEndCapture(handle stream, handle *graph) {
    *graph = capturing;
    capturing = NULL;
    return 0;
}
int cuGraphInstantiate(handle *executable, handle graph, unsigned long long flags) {
    *executable = graph;
    return 0;
}
int cuGraphInstantiateWithFlags(handle *executable, handle graph, unsigned long long flags) {
    return cuGraphInstantiate(executable, graph, flags);
}
struct instantiation { uint64_t flags; handle upload, error; int result; };
int cuGraphInstantiateWithParams(handle *executable, handle graph, struct instantiation *how) {
    how->result = 0;
    return cuGraphInstantiate(executable, graph, 0);
}
int cuGraphLaunch(handle executable, handle stream) {
    return idle ? 0 : on_launch(NULL, 0, 0, executable, NULL);
}
int cuEventCreate(handle *event, unsigned flags) { *event = new_handle(); return 0; }
int cuEventElapsedTime_v2(float *ms, handle begin, handle end) { *ms = 0.5f; return 0; }
int cuEventElapsedTime(float *ms, handle begin, handle end) { *ms = 0.5f; return 0; }

int cuLibraryLoadData(handle *library, const void *code, void *a, void *b, unsigned n, void *c, void *d, unsigned m) {
    *library = new_handle();
    return 0;
}
int cuLibraryGetKernel(handle *kernel, handle library, const char *name) { *kernel = strdup(name); return 0; }
int cuKernelGetFunction(handle *function, handle kernel) { *function = kernel; return 0; }

struct configuration { unsigned gx, gy, gz, bx, by, bz, shared; handle stream; void *attributes; unsigned count; };

int cuLaunchKernel(handle kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, handle stream, void **arguments, void **extra) {
    if (context_of_thread == NULL) return 201; /* CUDA_ERROR_INVALID_CONTEXT */
    wait_for_others();
    return idle ? 0 : on_launch(kernel, gx, bx, stream, arguments);
}
int cuLaunchKernelEx(const struct configuration *c, handle kernel, void **arguments, void **extra) {
    return cuLaunchKernel(kernel, c->gx, c->gy, c->gz, c->bx, c->by, c->bz, c->shared, c->stream, arguments, extra);
}

int cuGetErrorName(int error, const char **name) {
    *name = error == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_UNKNOWN";
    return 0;
}
int cuGetErrorString(int error, const char **text) { *text = "as the host says"; return 0; }

int cuGetProcAddress_v2(const char *name, handle *found, int version, uint64_t flags, int *status) {
    char newer[256];
    Dl_info here;
    handle self = dladdr((void *)nothing, &here) ? dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
    snprintf(newer, sizeof newer, "%s_v2", name);
    *found = dlsym(self, newer);
    if (*found == NULL) *found = dlsym(self, name);
    if (*found == NULL) *found = (handle)nothing;
    if (status != NULL) *status = 0;
    return 0;
}
int cuGetProcAddress(const char *name, handle *found, int version, uint64_t flags) {
    return cuGetProcAddress_v2(name, found, version, flags, NULL);
}
int cuInit(unsigned flags) { return 0; }
