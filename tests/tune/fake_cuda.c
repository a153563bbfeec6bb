/* fake_cuda.c: a stand-in for NVIDIA's driver interface, as a shared object. It has three devices,
 * and "links" PTX into the header of a cubin with the PTX behind it. Byte 56 of the header is the
 * number of the device. PTX with the word "refuse" is refused, and of "garbage" no cubin is made.
 * At the word "trip" the process ends if FAKE_CUDA_TRIP is "crash"; if that is "hang" it sends
 * SIGUSR1 to its parent and hangs. fake_cuda_live counts what was not given back. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, INVALID_CONTEXT = 201, INVALID_PTX = 218 };
enum { NUM_DEVICES = 3, HEADER_BYTES = 64, LOG = 5, LOG_BYTES = 6 };

static const struct {
    int major, minor, domain, bus, slot;
} devices[NUM_DEVICES] = { { 8, 0, 0, 1, 0 }, { 9, 0, 0, 2, 0 }, { 9, 0, 0, 0x1a, 0 } };

struct link {
    char *log, *data;
    size_t log_bytes, size;
};

static int contexts[NUM_DEVICES];
static int *current;
static int live, is_ready;

int fake_cuda_live(void);
int cuInit(unsigned flags);
int cuDeviceGetCount(int *num);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuLinkCreate_v2(unsigned num, int *options, void **values, void **state);
int cuLinkAddData_v2(void *state, int type, void *data, size_t size, const char *name, unsigned num,
        int *options, void **values);
int cuLinkComplete(void *state, void **cubin, size_t *size);
int cuLinkDestroy(void *state);

int fake_cuda_live(void)
{
    return live;
}

int cuInit(unsigned flags)
{
    is_ready = flags == 0;
    return is_ready ? SUCCESS : INVALID_VALUE;
}

int cuDeviceGetCount(int *num)
{
    *num = NUM_DEVICES;
    return is_ready ? SUCCESS : INVALID_VALUE;
}

int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return ordinal >= 0 && ordinal < NUM_DEVICES ? SUCCESS : INVALID_VALUE;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    *value = attribute == 75 ? devices[device].major
           : attribute == 76 ? devices[device].minor
           : attribute == 33 ? devices[device].bus
           : attribute == 34 ? devices[device].slot
           : attribute == 50 ? devices[device].domain
                             : -1;
    return *value >= 0 ? SUCCESS : INVALID_VALUE;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    live++;
    *context = &contexts[device];
    return SUCCESS;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
    live -= device >= 0 && device < NUM_DEVICES;
    return SUCCESS;
}

int cuCtxPushCurrent_v2(void *context)
{
    live++;
    current = context;
    return SUCCESS;
}

int cuCtxPopCurrent_v2(void **context)
{
    live--;
    *context = current;
    current = NULL;
    return SUCCESS;
}

int cuLinkCreate_v2(unsigned num, int *options, void **values, void **state)
{
    if (!current)
        return INVALID_CONTEXT;
    struct link *link = calloc(1, sizeof *link);
    for (unsigned i = 0; link && i < num; i++) {
        if (options[i] == LOG)
            link->log = values[i];
        if (options[i] == LOG_BYTES)
            link->log_bytes = (size_t) (uintptr_t) values[i];
    }
    live++;
    *state = link;
    return link ? SUCCESS : INVALID_VALUE;
}

static void trip(void)
{
    const char *how = getenv("FAKE_CUDA_TRIP");
    if (how && !strcmp(how, "crash"))
        raise(SIGKILL);
    if (how && !strcmp(how, "hang")) {
        kill(getppid(), SIGUSR1);
        for (;;)
            pause();
    }
}

/* As the driver, it reads PTX up to its NUL, which must be there. */
int cuLinkAddData_v2(void *state, int type, void *data, size_t size, const char *name, unsigned num,
        int *options, void **values)
{
    struct link *link = state;
    const char *ptx = data;
    (void) name, (void) options, (void) values;
    if (type != 1 || num || !size || ptx[size - 1])
        return INVALID_VALUE;
    if (strstr(ptx, "refuse")) {
        snprintf(link->log, link->log_bytes, "\nfake : refused as planned\nmore");
        return INVALID_PTX;
    }
    if (strstr(ptx, "trip"))
        trip();
    link->size = HEADER_BYTES + size - 1;
    link->data = calloc(1, link->size);
    if (!link->data)
        return INVALID_VALUE;
    memcpy(link->data, strstr(ptx, "garbage") ? "junk" : "\177ELF", 4);
    link->data[18] = (char) 190;
    link->data[56] = (char) (current - contexts);
    memcpy(link->data + HEADER_BYTES, ptx, size - 1);
    return SUCCESS;
}

int cuLinkComplete(void *state, void **cubin, size_t *size)
{
    struct link *link = state;
    *cubin = link->data;
    *size = link->size;
    return SUCCESS;
}

int cuLinkDestroy(void *state)
{
    struct link *link = state;
    live--;
    free(link->data);
    free(link);
    return SUCCESS;
}
