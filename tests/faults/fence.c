/* fence.c: see fence.h. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "fence.h"

#include <sys/mman.h>
#include <unistd.h>

static size_t page_bytes(void)
{
    return (size_t) sysconf(_SC_PAGESIZE);
}

void fence_make(struct fence *fence, size_t bytes, long place)
{
    const size_t page = page_bytes(), start = place == FENCE_AT_END ? 0 : (size_t) place;
    const size_t inside = (start + (bytes > 0 ? bytes : 1) + page - 1) / page * page;
    *fence = (struct fence){ .map_bytes = inside + 2 * page, .bytes = bytes };
    fence->map = mmap(NULL, fence->map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    need(fence->map != MAP_FAILED &&
                    mprotect(fence->map + page, inside, PROT_READ | PROT_WRITE) == 0,
            "memory between fences");
    fence->at = fence->map + page + (place == FENCE_AT_END ? inside - bytes : start);
}

void fence_close(const struct setup *setup, struct fence *fence, bool writable)
{
    const size_t page = page_bytes();
    fence->buffer = clCreateBuffer(setup->cl, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
            fence->bytes > 0 ? fence->bytes : 1, fence->at, NULL);
    need(fence->buffer != NULL, "a buffer over memory of the host");
    need(writable || mprotect(fence->map + page, fence->map_bytes - 2 * page, PROT_READ) == 0,
            "memory that is read only");
}

void fence_free(struct fence *fence)
{
    clReleaseMemObject(fence->buffer);
    munmap(fence->map, fence->map_bytes);
}
