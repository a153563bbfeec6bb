/* forms.h: the recipes of a bundle that need no search, since they follow from others. */
#ifndef KILN_CORE_FORMS_H
#define KILN_CORE_FORMS_H

#include "winners.h"

/* Is the winner such a recipe? */
bool form_is(const struct winner *winner);

/* Adds them to the winners, in the place of those that are there, while there is room:
 * - for a complex precision whose real one is there, what brings its products into the form of real
 *   ones, with the time that it had among those before;
 * - for each precision, what mirrors a matrix of which one triangle is stored;
 * - for products of which one triangle is stored, a few of the winners once more, which store no
 *   more than that: those by which least is lost, by the times of the winners, on squares of many
 *   sizes and depths, B transposed or not.
 * They have the hashes of their present text. */
bool forms_add(struct winners *winners, char error[FAMILY_ERROR_BYTES]);

#endif
