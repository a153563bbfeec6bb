/* contexts.c: Kiln's contexts, one for each OpenCL context and device that was called with.
 *
 * They are kept, as CLBlast keeps its programs, and hold their OpenCL context until the cache is
 * cleared. Nothing is released when the program ends: drivers may have ended by then.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* locks for readers and writers */
#endif
#include "kiln_clblast.h"

#include <pthread.h>
#include <stdlib.h>

struct entry {
    cl_context context;
    cl_device_id device;
    struct kiln_context *kiln;
    struct entry *next;
};

static struct entry *entries;
/* Held for reading by every call under way, so that no context in use is destroyed. */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static struct entry *find(cl_context context, cl_device_id device)
{
    struct entry *entry = entries;
    while (entry != NULL && (entry->context != context || entry->device != device)) {
        entry = entry->next;
    }
    return entry;
}

static enum kiln_status make(cl_context context, cl_device_id device)
{
    struct entry *entry = malloc(sizeof *entry);
    if (entry == NULL) {
        return KILN_OUT_OF_MEMORY;
    }
    *entry = (struct entry){ .context = context, .device = device, .next = entries };
    const enum kiln_status status = kiln_context_create(context, device, NULL, &entry->kiln);
    if (status == KILN_SUCCESS) {
        entries = entry;
    } else {
        free(entry);
    }
    return status;
}

enum kiln_status kiln_clblast_enter(cl_command_queue queue, struct kiln_context **context)
{
    cl_context cl = NULL;
    cl_device_id device = NULL;
    if (queue == NULL ||
            clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof cl, &cl, NULL) != CL_SUCCESS ||
            clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL) !=
                    CL_SUCCESS) {
        return KILN_INVALID_QUEUE;
    }
    enum kiln_status status = KILN_SUCCESS;
    while (status == KILN_SUCCESS) {
        pthread_rwlock_rdlock(&lock);
        const struct entry *entry = find(cl, device);
        if (entry != NULL) {
            *context = entry->kiln;
            return KILN_SUCCESS;
        }
        pthread_rwlock_unlock(&lock);
        pthread_rwlock_wrlock(&lock);
        status = find(cl, device) == NULL ? make(cl, device) : KILN_SUCCESS;
        pthread_rwlock_unlock(&lock);
    }
    return status;
}

void kiln_clblast_leave(void)
{
    pthread_rwlock_unlock(&lock);
}

#define EXPORT __attribute__((visibility("default")))

EXPORT int CLBlastClearCache(void)
{
    const kiln_clblast_function other = kiln_clblast_fallback("CLBlastClearCache", 0);
    int status = 0;
    pthread_rwlock_wrlock(&lock);
    while (entries != NULL) {
        struct entry *entry = entries;
        entries = entry->next;
        kiln_context_destroy(&entry->kiln);
        free(entry);
    }
    pthread_rwlock_unlock(&lock);
    if (other != NULL) {
        kiln_clblast_is_passed_on = 1;
        status = ((__typeof__(&CLBlastClearCache)) other)();
        kiln_clblast_is_passed_on = 0;
    }
    return status;
}

/* Kiln builds kernels when a call needs them, so there is nothing to do in advance. What CLBlast
 * would build is for calls that it seldom gets. */
EXPORT int CLBlastFillCache(cl_device_id device)
{
    cl_device_type type;
    return clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL) == CL_SUCCESS
                 ? 0
                 : CL_INVALID_DEVICE;
}
