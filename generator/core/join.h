/* join.h: one bundle out of several tunings: of CPUs, of other devices, of none.
 *
 * The joint bundle is for any device, and so its recipes say what they are for. Those that were
 * tuned on a CPU with vectors are for such CPUs, with vectors at least as long as the tuning was
 * allowed; those of a device that is no CPU are for such devices. What was tuned on no device, a
 * file without facts, is for any, unless its rows say otherwise. Times come from several devices,
 * but those that are compared on a device were all measured on one of its kind. Pure.
 */
#ifndef KILN_CORE_JOIN_H
#define KILN_CORE_JOIN_H

#include "winners.h"

/* Adds the recipes of `from` behind those of `to`, which began with nothing but its name. A recipe
 * that both have for one kind of device stays once, for the shorter vectors of the two. The facts
 * become such that both sets are legal. Pins and losses are of one device and are not joined. False
 * with a message when there are too many. */
bool join_winners(struct winners *to, const struct winners *from, char error[FAMILY_ERROR_BYTES]);

#endif
