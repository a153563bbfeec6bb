/* warp.c: the instructions of warps that kernels for NVIDIA's compute capability 8.0 and later
 * use, as the PTX ISA describes them: one function for each of the kernels' that holds inline PTX,
 * and what OpenCL C itself asks of a device. */
#include "warp.h"
#include "fibers.h"
#include "group.h"
#include "memory.h"

#include <stdbool.h>
#include <string.h>

#include "element.h"

enum { MOST_WARPS = FIBERS_MOST / FIBERS_WARP };

/* What a work-item brings to an instruction of its warp. */
struct operands {
    uint32_t from, *to;
    void *c;
    const void *a, *b;
    uint32_t value, other;
};

static struct operands operands[FIBERS_MOST];
static struct fibers_meeting group_meeting, any_meeting, warp_meetings[MOST_WARPS];
static struct warp_grid grid;
static unsigned place[WARP_AXES];
static uint32_t any_so_far, any_of_all;

void warp_begin(const struct warp_grid *of, const unsigned group[WARP_AXES])
{
    grid = *of;
    memcpy(place, group, sizeof place);
    memset(&group_meeting, 0, sizeof group_meeting);
    memset(&any_meeting, 0, sizeof any_meeting);
    memset(warp_meetings, 0, sizeof warp_meetings);
    any_so_far = 0;
    memory_begin();
    group_begin();
}

void warp_end(void)
{
    memory_end();
    group_end();
}

/* ---- What OpenCL C asks: get_local_id and the like, barrier ---- */

size_t warp_local_id(unsigned axis) __asm__("_Z12get_local_idj");
size_t warp_local_id(unsigned axis)
{
    const unsigned self = fibers_self();
    return axis == 0 ? self % grid.items[0]
         : axis == 1 ? self / grid.items[0] % grid.items[1]
                     : self / grid.items[0] / grid.items[1];
}

size_t warp_group_id(unsigned axis) __asm__("_Z12get_group_idj");
size_t warp_group_id(unsigned axis)
{
    return axis < WARP_AXES ? place[axis] : 0;
}

int64_t warp_member_of_batch(void);
int64_t warp_member_of_batch(void)
{
    return (int64_t) warp_group_id(2);
}

size_t warp_num_groups(unsigned axis) __asm__("_Z14get_num_groupsj");
size_t warp_num_groups(unsigned axis)
{
    return axis < WARP_AXES ? grid.groups[axis] : 1;
}

size_t warp_local_size(unsigned axis) __asm__("_Z14get_local_sizej");
size_t warp_local_size(unsigned axis)
{
    return axis < WARP_AXES ? grid.items[axis] : 1;
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

static void look_up_all(void *user)
{
    struct operands *warp = user;
    uint32_t values[FIBERS_WARP];
    for (unsigned i = 0; i < FIBERS_WARP; i++)
        values[i] = warp[i].value;
    for (unsigned i = 0; i < FIBERS_WARP; i++)
        warp[i].value = values[warp[i].other % FIBERS_WARP];
}

/* What a work-item of the warp has. */
static uint32_t look_up(uint32_t x, uint32_t lane)
{
    mine()->value = x;
    mine()->other = lane;
    together(look_up_all);
    return mine()->value;
}

uint32_t warp_exchange(uint32_t x, uint32_t distance);
uint32_t warp_exchange(uint32_t x, uint32_t distance)
{
    return look_up(x, fibers_self() % FIBERS_WARP ^ distance);
}

uint32_t warp_uniform(uint32_t x);
uint32_t warp_uniform(uint32_t x)
{
    return look_up(x, 0);
}

float warp_of_lane(float x, uint32_t lane);
float warp_of_lane(float x, uint32_t lane)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = look_up(bits, lane);
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void gather_any(void *user)
{
    (void) user;
    any_of_all = any_so_far;
    any_so_far = 0;
}

uint32_t warp_any_worker(uint32_t says, uint32_t workers);
uint32_t warp_any_worker(uint32_t says, uint32_t workers)
{
    any_so_far |= says != 0;
    fibers_meet(&any_meeting, workers, gather_any, NULL);
    return any_of_all;
}

/* That nothing which reads them comes sooner is for the compiler. */
void warp_settle(float *c);
void warp_settle(float *c)
{
    (void) c;
}

/* The larger one of `most` and the size of x, or no number. */
float warp_larger(float most, float x);
float warp_larger(float most, float x)
{
    const float size = x < 0 ? -x : x;
    return most != most || most > size ? most : size;
}

uint32_t warp_pack_halves(float low, float high);
uint32_t warp_pack_halves(float low, float high)
{
    return kiln_half_from_float(low) | (uint32_t) kiln_half_from_float(high) << 16;
}

/* ---- Blocks for tensor cores: ldmatrix, mma ---- */

static uint16_t half_at(uint32_t address)
{
    uint16_t bits;
    memcpy(&bits, memory_at(address), sizeof bits);
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
            fibers_fail("a block begins at no multiple of 16 bytes");
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
