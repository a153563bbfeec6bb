/* warp.c: the instructions that kernels for NVIDIA's compute capability 8.0 use, and those for 9.0 but
 * for the copy engine and warp groups, as the PTX ISA describes them: one function for each of the
 * kernels' that holds inline PTX, and what OpenCL C itself asks of a device. */
#include "warp.h"
#include "fibers.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "element.h"

enum {
    MOST_COPIES = 2048, MOST_GROUPS = 64, MOST_WARPS = FIBERS_MOST / FIBERS_WARP, NAMED_BARRIERS = 16
};

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
    uint16_t arrivals, missing;        /* of a phase, and of the present one */
    uint32_t phase;
};

/* What a work-item brings to an instruction of its warp. */
struct operands {
    uint32_t from, *to;
    void *c;
    const void *a, *b;
    uint32_t value, other;
};

static struct copies copies[FIBERS_MOST];
static struct operands operands[FIBERS_MOST];
static struct fibers_meeting group_meeting, warp_meetings[MOST_WARPS];
static struct fibers_meeting named_meetings[NAMED_BARRIERS];
static struct warp_grid grid;
static unsigned place[2];
static uintptr_t near;
static uint32_t any_so_far, any_of_all;

void warp_begin(const struct warp_grid *of, const unsigned group[2], uintptr_t object)
{
    grid = *of;
    memcpy(place, group, sizeof place);
    near = object;
    memset(&group_meeting, 0, sizeof group_meeting);
    memset(warp_meetings, 0, sizeof warp_meetings);
    memset(named_meetings, 0, sizeof named_meetings);
    for (unsigned i = 0; i < FIBERS_MOST; i++)
        copies[i].num = copies[i].committed = copies[i].num_groups = 0;
    any_so_far = 0;
}

static void fail(const char *what)
{
    fprintf(stderr, "warps: %s\n", what);
    exit(1);
}

/* ---- What OpenCL C asks: get_local_id and the like, barrier ---- */

size_t warp_local_id(unsigned axis) __asm__("_Z12get_local_idj");
size_t warp_local_id(unsigned axis)
{
    return axis == 0 ? fibers_self() % grid.items[0]
         : axis == 1 ? fibers_self() / grid.items[0]
                     : 0;
}

size_t warp_group_id(unsigned axis) __asm__("_Z12get_group_idj");
size_t warp_group_id(unsigned axis)
{
    return axis < 2 ? place[axis] : 0;
}

size_t warp_num_groups(unsigned axis) __asm__("_Z14get_num_groupsj");
size_t warp_num_groups(unsigned axis)
{
    return axis < 2 ? grid.groups[axis] : 1;
}

size_t warp_local_size(unsigned axis) __asm__("_Z14get_local_sizej");
size_t warp_local_size(unsigned axis)
{
    return axis < 2 ? grid.items[axis] : 1;
}

size_t warp_global_id(unsigned axis) __asm__("_Z13get_global_idj");
size_t warp_global_id(unsigned axis)
{
    return warp_group_id(axis) * warp_local_size(axis) + warp_local_id(axis);
}

size_t warp_global_size(unsigned axis) __asm__("_Z15get_global_sizej");
size_t warp_global_size(unsigned axis)
{
    return warp_num_groups(axis) * warp_local_size(axis);
}

void warp_barrier(unsigned flags) __asm__("_Z7barrierj");
void warp_barrier(unsigned flags)
{
    (void) flags;
    fibers_meet(&group_meeting, fibers_count(), NULL, NULL);
}

float warp_half_to_float(uint16_t bits);
float warp_half_to_float(uint16_t bits)
{
    return (float) kiln_half_to_float(bits);
}

uint16_t warp_half_from_float(float value);
uint16_t warp_half_from_float(float value)
{
    return kiln_half_from_float(value);
}

float warp_root(float value);
float warp_root(float value)
{
    return __builtin_sqrtf(value);
}

int warp_exponent(float value);
int warp_exponent(float value)
{
    return __builtin_ilogbf(value);
}

/* ---- A warp ---- */

static struct operands *mine(void)
{
    return &operands[fibers_self()];
}

static struct operands *of_warp(void)
{
    return &operands[fibers_self() / FIBERS_WARP * FIBERS_WARP];
}

/* All work-items of the warp have said what they bring; the last one does it for all. */
static void together(void (*what)(void *))
{
    fibers_meet(&warp_meetings[fibers_self() / FIBERS_WARP], FIBERS_WARP, what, of_warp());
}

void warp_warp_sync(void);
void warp_warp_sync(void)
{
    together(NULL);
}

static void exchange_all(void *user)
{
    struct operands *warp = user;
    uint32_t values[FIBERS_WARP];
    for (unsigned i = 0; i < FIBERS_WARP; i++)
        values[i] = warp[i].value;
    for (unsigned i = 0; i < FIBERS_WARP; i++)
        warp[i].value = values[(i ^ warp[i].other) % FIBERS_WARP];
}

uint32_t warp_exchange(uint32_t x, uint32_t distance);
uint32_t warp_exchange(uint32_t x, uint32_t distance)
{
    mine()->value = x;
    mine()->other = distance;
    together(exchange_all);
    return mine()->value;
}

static void hand_out_first(void *user)
{
    struct operands *warp = user;
    for (unsigned i = 0; i < FIBERS_WARP; i++)
        warp[i].value = warp[0].value;
}

uint32_t warp_uniform(uint32_t x);
uint32_t warp_uniform(uint32_t x)
{
    mine()->value = x;
    together(hand_out_first);
    return mine()->value;
}

static void gather_any(void *user)
{
    (void) user;
    any_of_all = any_so_far;
    any_so_far = 0;
}

/* Of a work-group in which all work-items multiply. */
uint32_t warp_any_worker(uint32_t says);
uint32_t warp_any_worker(uint32_t says)
{
    any_so_far |= says != 0;
    fibers_meet(&group_meeting, fibers_count(), gather_any, NULL);
    return any_of_all;
}

uint32_t warp_pack_halves(float low, float high);
uint32_t warp_pack_halves(float low, float high)
{
    return kiln_half_from_float(low) | (uint32_t) kiln_half_from_float(high) << 16;
}

/* What stands in a kernel itself: a barrier with a number, for some of the work-items, and how
 * registers are given out, which says nothing here. */
void warp_inline(const char *ptx);
void warp_inline(const char *ptx)
{
    unsigned number, items;
    if (sscanf(ptx, "\"bar.sync %u, %u;", &number, &items) == 2 && number < NAMED_BARRIERS)
        fibers_meet(&named_meetings[number], items, NULL, NULL);
    else if (!strstr(ptx, "setmaxnreg."))
        fail(ptx);
}

/* ---- Copies into local memory ---- */

static unsigned char *local_memory(uint32_t address)
{
    const uintptr_t half = (uintptr_t) 1 << 31, whole = (uintptr_t) 1 << 32;
    uintptr_t at = (near & ~(whole - 1)) | address;
    if (at + half < near)
        at += whole;
    else if (at > near + half)
        at -= whole;
    return (unsigned char *) at;
}

static void begin_copy(uint32_t to, const void *from, uint32_t bytes, unsigned size)
{
    struct copies *all = &copies[fibers_self()];
    if (to % size || bytes > size)
        fail("a copy's place begins at no multiple of its size");
    if (bytes && (uintptr_t) from % size)
        fail("a copy begins at no multiple of its size");
    if (all->num == MOST_COPIES)
        fail("too many copies are under way");
    all->list[all->num++] = (struct copy){ local_memory(to), from, bytes, size };
}

void warp_copy_4(uint32_t to, const void *from, uint32_t bytes);
void warp_copy_4(uint32_t to, const void *from, uint32_t bytes)
{
    begin_copy(to, from, bytes, 4);
}

void warp_copy_8(uint32_t to, const void *from, uint32_t bytes);
void warp_copy_8(uint32_t to, const void *from, uint32_t bytes)
{
    begin_copy(to, from, bytes, 8);
}

void warp_copy_16(uint32_t to, const void *from, uint32_t bytes);
void warp_copy_16(uint32_t to, const void *from, uint32_t bytes)
{
    begin_copy(to, from, bytes, 16);
}

static void commit(bool arrives, uint32_t mbarrier)
{
    struct copies *all = &copies[fibers_self()];
    if (all->num_groups == MOST_GROUPS)
        fail("too many groups of copies are under way");
    all->groups[all->num_groups].num = all->num - all->committed;
    all->groups[all->num_groups].arrives = arrives;
    all->groups[all->num_groups++].mbarrier = mbarrier;
    all->committed = all->num;
}

void warp_commit_copies(void);
void warp_commit_copies(void)
{
    commit(false, 0);
}

static struct mbarrier *mbarrier_at(uint32_t address)
{
    if (address % sizeof(struct mbarrier))
        fail("a barrier begins at no multiple of its size");
    return (struct mbarrier *) (void *) local_memory(address);
}

static void arrive(struct mbarrier *mbarrier)
{
    fibers_moved();
    if (--mbarrier->missing)
        return;
    mbarrier->missing = mbarrier->arrivals;
    mbarrier->phase++;
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

/* Not earlier than it is waited for. */
void warp_wait_for_copies(unsigned but);
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
        fail("a barrier waits for nobody, or for more than there are");
    *mbarrier_at(at) = (struct mbarrier){ (uint16_t) arrivals, (uint16_t) arrivals, 0 };
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

/* Ends the copies that arrive at a barrier, and those that were begun before them. */
static void end_copies_for(uint32_t mbarrier)
{
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

/* Whether a phase is over; the copies that it lacks are not begun earlier than they are asked for. */
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

/* ---- Blocks for tensor cores: ldmatrix, mma ---- */

static uint16_t half_at(uint32_t address)
{
    uint16_t bits;
    memcpy(&bits, local_memory(address), sizeof bits);
    return bits;
}

/* Work-item l says where line l % 8 of block l / 8 is, and gets two elements side by side of line
 * l / 4 of each block, or where they are transposed, two of column l / 4. */
static void load_all(struct operands *warp, bool is_transposed)
{
    uint32_t from[FIBERS_WARP];
    for (unsigned l = 0; l < FIBERS_WARP; l++) {
        from[l] = warp[l].from;
        if (from[l] % 16)
            fail("a block begins at no multiple of 16 bytes");
    }
    for (unsigned l = 0; l < FIBERS_WARP; l++)
        for (unsigned block = 0; block < 4; block++) {
            const uint32_t *lines = from + 8 * block;
            const unsigned line = l / 4, x = l % 4 * 2;
            const uint16_t low = half_at(is_transposed ? lines[x] + line * 2 : lines[line] + x * 2);
            const uint16_t high = half_at(
                    is_transposed ? lines[x + 1] + line * 2 : lines[line] + x * 2 + 2);
            warp[l].to[block] = low | (uint32_t) high << 16;
        }
}

static void load_all_plain(void *user)
{
    load_all(user, false);
}

static void load_all_transposed(void *user)
{
    load_all(user, true);
}

void warp_load_blocks(uint32_t *to, uint32_t from);
void warp_load_blocks(uint32_t *to, uint32_t from)
{
    mine()->to = to;
    mine()->from = from;
    together(load_all_plain);
}

void warp_load_transposed_blocks(uint32_t *to, uint32_t from);
void warp_load_transposed_blocks(uint32_t *to, uint32_t from)
{
    mine()->to = to;
    mine()->from = from;
    together(load_all_transposed);
}

/* c += a b for 16 x 8, 16 x K and K x 8. */
static double product(double a[][16], double b[][8], unsigned row, unsigned col, unsigned depth)
{
    double sum = 0;
    for (unsigned k = 0; k < depth; k++)
        sum += a[row][k] * b[k][col];
    return sum;
}

static double half_of(uint32_t both, unsigned which)
{
    return kiln_half_to_float((uint16_t) (which ? both >> 16 : both));
}

/* m16n8k16: of A a register has two elements side by side. */
static void multiply_halves(void *user)
{
    struct operands *warp = user;
    double a[16][16], b[16][8];
    for (unsigned l = 0; l < FIBERS_WARP; l++) {
        const uint32_t *of_a = warp[l].a, *of_b = warp[l].b;
        for (unsigned i = 0; i < 8; i++)
            a[l / 4 + i / 2 % 2 * 8][l % 4 * 2 + i % 2 + i / 4 * 8] = half_of(of_a[i / 2], i % 2);
        for (unsigned i = 0; i < 4; i++)
            b[l % 4 * 2 + i % 2 + i / 2 * 8][l / 4] = half_of(of_b[i / 2], i % 2);
    }
    for (unsigned l = 0; l < FIBERS_WARP; l++)
        for (unsigned i = 0; i < 4; i++)
            ((float *) warp[l].c)[i] += (float) product(a, b, l / 4 + i / 2 * 8, l % 4 * 2 + i % 2,
                    16);
}

void warp_multiply_blocks(float *c, const uint32_t *a, const uint32_t *b);
void warp_multiply_blocks(float *c, const uint32_t *a, const uint32_t *b)
{
    mine()->c = c;
    mine()->a = a;
    mine()->b = b;
    together(multiply_halves);
}

/* m16n8k8, or two times two m8n8k4. */
static void multiply_doubles(void *user)
{
    struct operands *warp = user;
    double a[16][16], b[8][8];
    for (unsigned l = 0; l < FIBERS_WARP; l++) {
        const double *of_a = warp[l].a, *of_b = warp[l].b;
        for (unsigned i = 0; i < 4; i++)
            a[l / 4 + i % 2 * 8][l % 4 + i / 2 * 4] = of_a[i];
        for (unsigned i = 0; i < 2; i++)
            b[l % 4 + i * 4][l / 4] = of_b[i];
    }
    for (unsigned l = 0; l < FIBERS_WARP; l++)
        for (unsigned i = 0; i < 4; i++)
            ((double *) warp[l].c)[i] += product(a, b, l / 4 + i / 2 * 8, l % 4 * 2 + i % 2, 8);
}

void warp_multiply_blocks_of_doubles(double *c, const double *a, const double *b);
void warp_multiply_blocks_of_doubles(double *c, const double *a, const double *b)
{
    mine()->c = c;
    mine()->a = a;
    mine()->b = b;
    together(multiply_doubles);
}
