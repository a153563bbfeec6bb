/* memory.c: see memory.h. Instructions as the PTX ISA describes them. */
#include "memory.h"
#include "fibers.h"

#include <stdbool.h>
#include <string.h>

enum { MOST_COPIES = 2048, MOST_GROUPS = 64, MOST_FETCHES = 256 };

/* A copy into local memory that was begun. */
struct copy {
    unsigned char *to;
    const void *from;
    unsigned bytes, size;
};

/* What a work-item has begun to copy: in groups, oldest first, and since it last committed. */
struct copies {
    struct copy list[MOST_COPIES];
    unsigned num, committed, num_groups;
    struct {
        unsigned num;
        bool arrives;                  /* at this barrier, when its copies have ended */
        uint32_t mbarrier;
    } groups[MOST_GROUPS];
};

/* A barrier in local memory, as it lies there. */
struct mbarrier {
    uint64_t arrivals : 12, missing : 12;        /* of a phase, and of the present one */
    uint64_t bytes : 24;               /* that it waits for beside them */
    uint64_t phase : 16;
};

/* What a fetch by the copy engine goes by, in the 128 bytes of a tensor map. */
struct tensor_map {
    uint64_t address, stride;          /* of the matrix, and of its rows, bytes */
    uint32_t rows, cols, box_rows, box_cols;
    uint32_t swizzle, bytes;           /* bytes: of an element */
};

enum { TENSOR_MAP_BYTES = 128 };

/* A fetch that was begun. */
struct fetch {
    struct tensor_map map;
    uint32_t to, mbarrier;
    int x, y;
};

static struct copies copies[FIBERS_MOST];
static struct fetch fetches[MOST_FETCHES];
static unsigned num_fetches;
static uintptr_t least_local; /* the least address in local memory that was asked for */

void memory_begin(void)
{
    least_local = UINTPTR_MAX;
    num_fetches = 0;
    for (unsigned i = 0; i < FIBERS_MOST; i++)
        copies[i].num = copies[i].committed = copies[i].num_groups = 0;
}

void memory_end(void)
{
    bool is_idle = num_fetches == 0;
    for (unsigned i = 0; i < FIBERS_MOST; i++)
        is_idle = is_idle && copies[i].num == 0;
    if (!is_idle)
        fibers_fail("a work-group ends while copies into local memory are under way");
}

/* Addresses in local memory have as many bits as the largest has bytes, rounded up. */
enum { WINDOW_BYTES = 1 << 18 };

uint32_t warp_local_address(const void *p);
uint32_t warp_local_address(const void *p)
{
    const uintptr_t address = (uintptr_t) p;
    least_local = address < least_local ? address : least_local;
    return address % WINDOW_BYTES;
}

unsigned char *memory_at(uint32_t address)
{
    return (unsigned char *) (least_local + (address - (uint32_t) least_local) % WINDOW_BYTES);
}

/* ---- Copies: cp.async ---- */

static void begin_copy(uint32_t to, const void *from, uint32_t bytes, unsigned size)
{
    struct copies *all = &copies[fibers_self()];
    if (to % size || bytes > size)
        fibers_fail("a copy's place begins at no multiple of its size");
    if (bytes && (uintptr_t) from % size)
        fibers_fail("a copy begins at no multiple of its size");
    if (all->num == MOST_COPIES)
        fibers_fail("too many copies are under way");
    all->list[all->num++] = (struct copy){ memory_at(to), from, bytes, size };
}

/* copy_N of so many bytes, and zeros; of all. */
#define COPY_SOME(N, BYTES) \
    void warp_copy_##N##_##BYTES(uint32_t to, const void *from, uint32_t bytes); \
    void warp_copy_##N##_##BYTES(uint32_t to, const void *from, uint32_t bytes) \
    { \
        begin_copy(to, from, bytes, BYTES); \
    }
#define COPY_ALL(N, BYTES) \
    void warp_copy_##N##_##BYTES(uint32_t to, const void *from); \
    void warp_copy_##N##_##BYTES(uint32_t to, const void *from) \
    { \
        begin_copy(to, from, BYTES, BYTES); \
    }
COPY_SOME(4, 4)
COPY_SOME(16, 16)
COPY_ALL(float4, 16)
COPY_ALL(float, 4)

/* An element, or 0. */
#define COPY_ELEMENT(BYTES) \
    void warp_copy_element_##BYTES(uint32_t to, const void *from, bool is_there); \
    void warp_copy_element_##BYTES(uint32_t to, const void *from, bool is_there) \
    { \
        begin_copy(to, from, is_there ? BYTES : 0, BYTES); \
    }
COPY_ELEMENT(4)
COPY_ELEMENT(8)
COPY_ELEMENT(16)

#define FETCH_CHUNK(BYTES) \
    void warp_fetch_chunk_##BYTES(uint32_t to, const char *x, int64_t rows, int64_t cols, \
            int64_t ld, int64_t row, int64_t col); \
    void warp_fetch_chunk_##BYTES(uint32_t to, const char *x, int64_t rows, int64_t cols, \
            int64_t ld, int64_t row, int64_t col) \
    { \
        const int64_t left = row < rows && col < cols ? (cols - col) * (BYTES) : 0; \
        begin_copy(to, x + (row * ld + col) * (BYTES), (uint32_t) (left < 16 ? left : 16), 16); \
    }
FETCH_CHUNK(2)
FETCH_CHUNK(4)
FETCH_CHUNK(8)

static struct mbarrier *mbarrier_at(uint32_t address)
{
    if (address % sizeof(struct mbarrier))
        fibers_fail("a barrier begins at no multiple of its size");
    return (struct mbarrier *) (void *) memory_at(address);
}

static void end_phase(struct mbarrier *mbarrier)
{
    fibers_moved();
    if (mbarrier->missing || mbarrier->bytes)
        return;
    mbarrier->missing = mbarrier->arrivals;
    mbarrier->phase++;
}

static void arrive(struct mbarrier *mbarrier)
{
    if (!mbarrier->missing)
        fibers_fail("more arrive at a barrier than it waits for");
    mbarrier->missing--;
    end_phase(mbarrier);
}

static void end_oldest(struct copies *all)
{
    const unsigned num = all->groups[0].num;
    for (unsigned i = 0; i < num; i++) {
        const struct copy *copy = &all->list[i];
        memset(copy->to, 0, copy->size);
        if (copy->bytes)
            memcpy(copy->to, copy->from, copy->bytes);
    }
    if (all->groups[0].arrives)
        arrive(mbarrier_at(all->groups[0].mbarrier));
    all->num -= num;
    all->committed -= num;
    all->num_groups--;
    memmove(all->list, all->list + num, all->num * sizeof all->list[0]);
    memmove(all->groups, all->groups + 1, all->num_groups * sizeof all->groups[0]);
}

/* What arrives at a barrier now ends at once, and now when it is waited for. */
static void commit(bool arrives, uint32_t mbarrier)
{
    struct copies *all = &copies[fibers_self()];
    const bool is_early = fibers_toss();
    if (all->num_groups == MOST_GROUPS)
        fibers_fail("too many groups of copies are under way");
    all->groups[all->num_groups].num = all->num - all->committed;
    all->groups[all->num_groups].arrives = arrives;
    all->groups[all->num_groups++].mbarrier = mbarrier;
    all->committed = all->num;
    while (arrives && is_early && all->num_groups)
        end_oldest(all);
}

void warp_commit_copies(void)
{
    commit(false, 0);
}

/* Not earlier than it is waited for. */
void warp_wait_for_copies(unsigned but)
{
    struct copies *all = &copies[fibers_self()];
    while (all->num_groups > but)
        end_oldest(all);
}

/* ---- Barriers in local memory: mbarrier ---- */

void warp_mbarrier_init(uint32_t at, uint32_t arrivals);
void warp_mbarrier_init(uint32_t at, uint32_t arrivals)
{
    if (!arrivals || arrivals > FIBERS_MOST)
        fibers_fail("a barrier waits for nobody, or for more than there are");
    *mbarrier_at(at) = (struct mbarrier){ .arrivals = arrivals, .missing = arrivals };
}

void warp_mbarrier_arrive(uint32_t at);
void warp_mbarrier_arrive(uint32_t at)
{
    arrive(mbarrier_at(at));
}

void warp_mbarrier_arrive_copied(uint32_t at);
void warp_mbarrier_arrive_copied(uint32_t at)
{
    commit(true, at);
}

/* Beside the arrivals that the barrier was made for. */
void warp_mbarrier_arrive_later(uint32_t at);
void warp_mbarrier_arrive_later(uint32_t at)
{
    mbarrier_at(at)->missing++;
    commit(true, at);
}

void warp_mbarrier_expect(uint32_t at, uint32_t bytes);
void warp_mbarrier_expect(uint32_t at, uint32_t bytes)
{
    mbarrier_at(at)->bytes += bytes;
    arrive(mbarrier_at(at));
}

/* ---- The copy engine: tensor maps, cp.async.bulk.tensor ---- */

static void write_map(uint32_t at, struct tensor_map map)
{
    static const char zeros[TENSOR_MAP_BYTES];
    if (at % TENSOR_MAP_BYTES || memcmp(memory_at(at), zeros, sizeof zeros))
        fibers_fail("a tensor map begins at no multiple of its size, or is not all zero");
    if (map.address % 16 || map.stride % 16)
        fibers_fail("rows of a tensor map begin at no multiples of 16 bytes");
    if (map.box_rows > 256 || map.box_cols > 256 || map.box_cols * map.bytes % 16 ||
            (map.swizzle && map.box_cols * map.bytes > 16u << map.swizzle))
        fibers_fail("a tensor map's box is too large");
    memcpy(memory_at(at), &map, sizeof map);
}

/* By the number that PTX has for the type of the elements. */
#define WRITE_MAP(ELEMENT, BYTES) \
    void warp_write_map_##ELEMENT(uint32_t at, uint64_t address, int64_t rows, int64_t cols, \
            int64_t ld, uint32_t box_rows, uint32_t box_cols, uint32_t swizzle); \
    void warp_write_map_##ELEMENT(uint32_t at, uint64_t address, int64_t rows, int64_t cols, \
            int64_t ld, uint32_t box_rows, uint32_t box_cols, uint32_t swizzle) \
    { \
        write_map(at, (struct tensor_map){ address, (uint64_t) ld * (BYTES), (uint32_t) rows, \
                              (uint32_t) cols, box_rows, box_cols, swizzle, BYTES }); \
    }
WRITE_MAP(6, 2)
WRITE_MAP(7, 4)
WRITE_MAP(9, 8)

void warp_publish_map(uint64_t to, uint32_t map);
void warp_publish_map(uint64_t to, uint32_t map)
{
    memcpy((void *) (uintptr_t) to, memory_at(map), TENSOR_MAP_BYTES);
}

void warp_acquire_map(uint64_t map);
void warp_acquire_map(uint64_t map)
{
    (void) map;
}

uint32_t memory_swizzled(uint32_t address, uint32_t swizzle)
{
    return address ^ (address >> 3 & ((1u << swizzle) - 1) << 4);
}

static void end_fetch(const struct fetch *fetch)
{
    const struct tensor_map *map = &fetch->map;
    for (uint32_t row = 0; row < map->box_rows; row++)
        for (uint32_t col = 0; col < map->box_cols; col++) {
            const int64_t y = fetch->y + (int64_t) row, x = fetch->x + (int64_t) col;
            const uint32_t at = fetch->to + (row * map->box_cols + col) * map->bytes;
            unsigned char *to = memory_at(memory_swizzled(at, map->swizzle));
            const uint64_t from = map->address + (uint64_t) y * map->stride +
                                  (uint64_t) x * map->bytes;
            if (y < 0 || x < 0 || y >= map->rows || x >= map->cols)
                memset(to, 0, map->bytes);
            else
                memcpy(to, (const void *) (uintptr_t) from, map->bytes);
        }
    mbarrier_at(fetch->mbarrier)->bytes -= map->box_rows * map->box_cols * map->bytes;
    end_phase(mbarrier_at(fetch->mbarrier));
}

/* Now ends at once, and now when it is waited for. */
static void begin_fetch(const struct fetch *fetch)
{
    if (num_fetches == MOST_FETCHES)
        fibers_fail("too many fetches are under way");
    if (fibers_toss())
        end_fetch(fetch);
    else
        fetches[num_fetches++] = *fetch;
}

void warp_fetch_box(uint32_t to, uint64_t map, int x, int y, uint32_t mbarrier);
void warp_fetch_box(uint32_t to, uint64_t map, int x, int y, uint32_t mbarrier)
{
    struct fetch fetch = { .to = to, .mbarrier = mbarrier, .x = x, .y = y };
    if (to % 128)
        fibers_fail("a box begins at no multiple of 128 bytes");
    memcpy(&fetch.map, (const void *) (uintptr_t) map, sizeof fetch.map);
    begin_fetch(&fetch);
}

void warp_fetch_bytes(uint32_t to, const void *from, uint32_t bytes, uint32_t mbarrier);
void warp_fetch_bytes(uint32_t to, const void *from, uint32_t bytes, uint32_t mbarrier)
{
    const struct fetch fetch = { .to = to,
        .mbarrier = mbarrier,
        .map = { .address = (uintptr_t) from,
                .rows = 1,
                .cols = bytes / 16,
                .box_rows = 1,
                .box_cols = bytes / 16,
                .bytes = 16 } };
    if (to % 16 || (uintptr_t) from % 16 || bytes % 16)
        fibers_fail("bytes that are fetched begin or end at no multiple of 16");
    begin_fetch(&fetch);
}

static void end_fetches_for(uint32_t mbarrier)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < num_fetches; i++)
        if (fetches[i].mbarrier == mbarrier)
            end_fetch(&fetches[i]);
        else
            fetches[kept++] = fetches[i];
    num_fetches = kept;
}

/* Ends the copies that arrive at a barrier, and those that were begun before them. */
static void end_copies_for(uint32_t mbarrier)
{
    end_fetches_for(mbarrier);
    for (unsigned item = 0; item < fibers_count(); item++) {
        struct copies *all = &copies[item];
        unsigned last = 0;
        for (unsigned i = 0; i < all->num_groups; i++)
            if (all->groups[i].arrives && all->groups[i].mbarrier == mbarrier)
                last = i + 1;
        for (; last; last--)
            end_oldest(all);
    }
}

struct phase {
    uint32_t mbarrier, parity;
};

static bool is_over(const struct phase *phase)
{
    return mbarrier_at(phase->mbarrier)->phase % 2 != phase->parity;
}

/* Whether a phase is over; copies that it lacks end now. */
static bool is_over_with_copies(const void *user)
{
    const struct phase *phase = user;
    if (!is_over(phase))
        end_copies_for(phase->mbarrier);
    return is_over(phase);
}

void warp_mbarrier_wait(uint32_t at, uint32_t parity);
void warp_mbarrier_wait(uint32_t at, uint32_t parity)
{
    const struct phase phase = { at, parity };
    fibers_wait(is_over_with_copies, &phase);
}
