/* linked.h: the bundles that the build links, as the tuner sees them. */
#ifndef KILN_TUNE_LINKED_H
#define KILN_TUNE_LINKED_H

#include "../core/record.h"
#include "launcher.h"

/* The bundles of option "bundles"; kiln_linked_bundles is empty in the tuner, so that a candidate
 * that is refused has nothing to fall back to. Made by tuned/meson.build. */
extern const struct kiln_bundle *const kiln_tuner_bundles[];

/* Whether a linked bundle other than generic is for the device; one for a relative is not. */
bool linked_match(const struct device_facts *facts);

/* The configurations that the linked bundles but generic hold for a precision, each once: first
 * those of the bundles that are for the device, then those of its relatives, nearest first, then
 * the others'. Returns how many. */
size_t linked_configs(const struct device_facts *facts, const struct precision *precision,
        struct config *configs, size_t max);

/* The same without the others', of a list of bundles as kiln_tuner_bundles is one. */
size_t linked_kin(const void *bundles, const struct device_facts *facts,
        const struct precision *precision, struct config *configs, size_t max);

/* The coefficients of a configuration's time in those of a list's bundles that are for the device
 * and its relatives, nearest first, or NULL; and which of these it is. */
const struct kiln_time *linked_time(const void *bundles, const struct device_facts *facts,
        const struct precision *precision, const struct config *config,
        struct prior_source *source);

/* What a list's generic holds for any device, in the order in which the library tries them; and all
 * that it holds for devices of this kind, those for any last. */
size_t linked_generic(const void *bundles, const struct device_facts *facts,
        const struct precision *precision, struct config *configs, size_t max);
size_t linked_of_kind(const void *bundles, const struct device_facts *facts,
        const struct precision *precision, struct config *configs, size_t max);

/* The configuration that the library with these bundles would serve an unpadded call with on the
 * launcher's device. False when none can, or when it is not one of the present families. */
bool linked_dispatch(const struct launcher *launcher, const struct problem *problem,
        struct shape shape, struct config *config);

#endif
