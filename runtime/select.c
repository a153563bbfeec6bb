/* select.c: which bundles serve a device, nearest first (kinship.c). */
#include "internal.h"

/* Does `a` come before `b`? */
static bool kin_comes_before(const struct kiln_kin *a, const struct kiln_kin *b)
{
    return a->distance != b->distance ? a->distance < b->distance : a->place < b->place;
}

/* The format is looked at before anything else: the rest of another format may lie elsewhere. */
const struct kiln_bundle *kiln_kin_next(const struct kiln_bundle *const *linked,
        const struct kiln_device_facts *facts, struct kiln_kin *kin)
{
    struct kiln_kin best = { NULL, INT64_MAX, SIZE_MAX };
    for (size_t i = 0; linked[i] != NULL; i++) {
        if (linked[i]->format != KILN_BUNDLE_FORMAT) {
            continue;
        }
        struct kiln_kin here = { linked[i], kiln_bundle_distance(linked[i], facts), i };
        if ((kin->bundle == NULL || kin_comes_before(kin, &here)) &&
                kin_comes_before(&here, &best)) {
            best = here;
        }
    }
    if (best.bundle != NULL) {
        *kin = best;
    }
    return best.bundle;
}

static const struct kiln_bundle *last_of(const struct kiln_bundle *const *linked)
{
    const struct kiln_bundle *last = NULL;
    for (size_t i = 0; linked[i] != NULL; i++) {
        last = linked[i];
    }
    return last;
}

/* The bundles that are for the device, then its relatives'. One place is left for the last linked
 * bundle, which comes at the end if it is the generic one. */
static unsigned list_kin(const struct kiln_bundle *const *linked, const struct kiln_bundle *last,
        bool exact_only, const struct kiln_device_facts *facts,
        const struct kiln_bundle *chain[KILN_MAX_LINKS])
{
    const int64_t furthest = exact_only ? 0 : INT64_MAX - 1;
    struct kiln_kin kin = { 0 };
    unsigned num = 0;
    while (num < KILN_MAX_LINKS - 1 && kiln_kin_next(linked, facts, &kin) != NULL &&
            kin.distance <= furthest) {
        if (kin.bundle != last || !kiln_bundle_is_generic(last)) {
            chain[num++] = kin.bundle;
        }
    }
    return num;
}

static bool is_listed(const struct kiln_bundle *const *chain, unsigned num,
        const struct kiln_bundle *bundle)
{
    bool listed = false;
    for (unsigned i = 0; i < num; i++) {
        listed = listed || chain[i] == bundle;
    }
    return listed;
}

enum kiln_status kiln_select_bundles(const struct kiln_bundle *wanted,
        const struct kiln_bundle *const *linked, bool exact_only,
        const struct kiln_device_facts *facts, const struct kiln_bundle *chain[KILN_MAX_LINKS],
        unsigned *num)
{
    const struct kiln_bundle *last = last_of(linked);
    *num = 0;
    if (wanted != NULL) {
        chain[(*num)++] = wanted;
    } else {
        *num = list_kin(linked, last, exact_only, facts, chain);
    }
    if (last != NULL && !is_listed(chain, *num, last)) {
        chain[(*num)++] = last;
    }
    for (unsigned i = 0; i < *num; i++) {
        if (!kiln_bundle_is_sound(chain[i])) {
            return KILN_INVALID_BUNDLE;
        }
    }
    return *num > 0 ? KILN_SUCCESS : KILN_NO_KERNEL;
}
