/* group.c: see group.h. Instructions as the PTX ISA describes them. */
#include "group.h"
#include "fibers.h"
#include "memory.h"

#include <stdio.h>
#include <string.h>

#include "element.h"

enum { GROUP_ITEMS = 128, MOST_WARP_GROUPS = FIBERS_MOST / GROUP_ITEMS, MOST_PRODUCTS = 64 };

/* A or B in local memory. */
struct matrix {
    uint32_t address, swizzle;
    uint32_t lines;                    /* bytes from eight lines to the next */
    uint32_t across;                   /* bytes from what fits into a line to what comes next */
    bool is_across;                    /* lines are of one value of k each */
};

/* What a warp group has begun to multiply: in groups, oldest first, and since it last committed. */
struct products {
    struct product {
        float *c[GROUP_ITEMS];
        bool adds, has_registers;      /* adds: to c; has_registers: of A, and no matrix */
        uint32_t registers[GROUP_ITEMS][4];
        struct matrix a, b;
        unsigned columns;
    } list[MOST_PRODUCTS];
    unsigned num, committed, num_groups, groups[MOST_PRODUCTS];
    unsigned but;                      /* so many groups are not waited for */
    struct fibers_meeting meeting;
};

enum { NAMED_BARRIERS = 16 };

static struct products products[MOST_WARP_GROUPS];
static struct fibers_meeting named_meetings[NAMED_BARRIERS];

void group_begin(void)
{
    memset(named_meetings, 0, sizeof named_meetings);
    for (unsigned i = 0; i < MOST_WARP_GROUPS; i++) {
        products[i].num = products[i].committed = products[i].num_groups = 0;
        memset(&products[i].meeting, 0, sizeof products[i].meeting);
    }
}

void group_end(void)
{
    for (unsigned i = 0; i < MOST_WARP_GROUPS; i++)
        if (products[i].num)
            fibers_fail("a work-group ends while a warp group multiplies");
}

static struct products *my_products(void)
{
    return &products[fibers_self() / GROUP_ITEMS];
}

/* By a descriptor ("matrix descriptor" in the PTX ISA). */
static struct matrix matrix_of(uint32_t low, uint64_t high, bool is_across)
{
    const unsigned mode = high >> 30 & 3;
    if ((mode == 0 && is_across) || high >> 14 & 0xffff)
        fibers_fail("a descriptor is of no form that is known here");
    return (struct matrix){ .address = (low & 0x3fff) * 16,
        .across = (low >> 16 & 0x3fff) * 16,
        .lines = (uint32_t) (high & 0x3fff) * 16,
        .swizzle = mode ? 4 - mode : 0,
        .is_across = is_across };
}

/* Element k of a row of A, or of a column of B. */
static double matrix_at(const struct matrix *x, uint32_t row, uint32_t k)
{
    const uint32_t span = 16u << x->swizzle, line = x->is_across ? k : row;
    const uint32_t in_line = 2 * (x->is_across ? row : k);
    const uint32_t at = x->address + line / 8 * x->lines + line % 8 * span +
                        in_line / span * x->across + in_line % span;
    uint16_t bits;
    memcpy(&bits, memory_at(memory_swizzled(at, x->swizzle)), sizeof bits);
    return kiln_half_to_float(bits);
}

static void begin_product(void *user)
{
    struct products *all = user;
    if (++all->num == MOST_PRODUCTS)
        fibers_fail("too many products are under way");
}

/* All of a warp group say the same, but for where c is and what registers have. */
static struct product *next_product(float *c, unsigned columns, bool adds)
{
    struct product *product = &my_products()->list[my_products()->num];
    product->c[fibers_self() % GROUP_ITEMS] = c;
    product->columns = columns;
    product->adds = adds;
    product->has_registers = false;
    return product;
}

void warp_group_multiply(float *c, uint32_t a, uint32_t b, uint32_t columns, uint32_t adds,
        uint32_t a_is_across, uint32_t b_is_across, uint64_t high_a, uint64_t high_b);
void warp_group_multiply(float *c, uint32_t a, uint32_t b, uint32_t columns, uint32_t adds,
        uint32_t a_is_across, uint32_t b_is_across, uint64_t high_a, uint64_t high_b)
{
    struct product *product = next_product(c, columns, adds);
    product->a = matrix_of(a, high_a, a_is_across);
    product->b = matrix_of(b, high_b, b_is_across);
    fibers_meet(&my_products()->meeting, GROUP_ITEMS, begin_product, my_products());
}

void warp_group_multiply_registers(float *c, const uint32_t *a, uint32_t b, uint32_t columns,
        uint32_t adds, uint32_t b_is_across, uint64_t high_b);
void warp_group_multiply_registers(float *c, const uint32_t *a, uint32_t b, uint32_t columns,
        uint32_t adds, uint32_t b_is_across, uint64_t high_b)
{
    struct product *product = next_product(c, columns, adds);
    product->has_registers = true;
    memcpy(product->registers[fibers_self() % GROUP_ITEMS], a, sizeof product->registers[0]);
    product->b = matrix_of(b, high_b, b_is_across);
    fibers_meet(&my_products()->meeting, GROUP_ITEMS, begin_product, my_products());
}

static void commit_products(void *user)
{
    struct products *all = user;
    if (all->num_groups == MOST_PRODUCTS)
        fibers_fail("too many groups of products are under way");
    all->groups[all->num_groups++] = all->num - all->committed;
    all->committed = all->num;
}

static void read_registers(const struct product *product, double of_a[64][16])
{
    for (unsigned item = 0; item < GROUP_ITEMS; item++)
        for (unsigned i = 0; i < 8; i++) {
            const uint32_t both = product->registers[item][i / 2];
            const unsigned row = item / 32 * 16 + item % 32 / 4 + i / 2 % 2 * 8;
            const unsigned k = item % 4 * 2 + i % 2 + i / 4 * 8;
            of_a[row][k] = kiln_half_to_float((uint16_t) (i % 2 ? both >> 16 : both));
        }
}

/* m64nNk16: of a block of 8 columns a work-item has two side by side, of two rows. */
static void end_product(const struct product *product)
{
    static double of_a[64][16], of_b[256][16];
    if (product->has_registers)
        read_registers(product, of_a);
    for (unsigned k = 0; k < 16; k++) {
        for (unsigned row = 0; row < 64 && !product->has_registers; row++)
            of_a[row][k] = matrix_at(&product->a, row, k);
        for (unsigned col = 0; col < product->columns; col++)
            of_b[col][k] = matrix_at(&product->b, col, k);
    }
    for (unsigned item = 0; item < GROUP_ITEMS; item++)
        for (unsigned i = 0; i < product->columns / 2; i++) {
            const unsigned row = item / 32 * 16 + item % 32 / 4 + i / 2 % 2 * 8;
            const unsigned col = i / 4 * 8 + item % 4 * 2 + i % 2;
            double sum = 0;
            for (unsigned k = 0; k < 16; k++)
                sum += of_a[row][k] * of_b[col][k];
            product->c[item][i] = (product->adds ? product->c[item][i] : 0) + (float) sum;
        }
}

/* Not earlier than it is waited for. */
static void end_products(void *user)
{
    struct products *all = user;
    while (all->num_groups > all->but) {
        const unsigned num = all->groups[0];
        for (unsigned i = 0; i < num; i++)
            end_product(&all->list[i]);
        all->num -= num;
        all->committed -= num;
        all->num_groups--;
        memmove(all->list, all->list + num, all->num * sizeof all->list[0]);
        memmove(all->groups, all->groups + 1, all->num_groups * sizeof all->groups[0]);
    }
}

/* ---- What stands in a kernel itself ---- */

/* A barrier with a number, for some of the work-items; what is begun and waited for by warp
 * groups; how registers are given out, and fences, which say nothing here. */
void warp_inline(const char *ptx);
void warp_inline(const char *ptx)
{
    unsigned number, items, but;
    if (sscanf(ptx, "\"bar.sync %u, %u;", &number, &items) == 2 && number < NAMED_BARRIERS)
        fibers_meet(&named_meetings[number], items, NULL, NULL);
    else if (sscanf(ptx, "\"cp.async.wait_group %u;", &but) == 1)
        warp_wait_for_copies(but);
    else if (strstr(ptx, "cp.async.commit_group;"))
        warp_commit_copies();
    else if (strstr(ptx, "wgmma.commit_group."))
        fibers_meet(&my_products()->meeting, GROUP_ITEMS, commit_products, my_products());
    else if (sscanf(ptx, "\"%*[/@]wgmma.wait_group.sync.aligned %u;", &but) == 1 ||
             sscanf(ptx, "\"wgmma.wait_group.sync.aligned %u;", &but) == 1) {
        my_products()->but = but;
        fibers_meet(&my_products()->meeting, GROUP_ITEMS, end_products, my_products());
    } else if (!strstr(ptx, "setmaxnreg.") && !strstr(ptx, "fence.proxy.") &&
               !strstr(ptx, "wgmma.fence."))
        fibers_fail(ptx);
}
