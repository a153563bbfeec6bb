/* bundle.c: stands in kiln.c for the bundles of these tests, which test_bundle.c has. The lines in
 * the comment are what scripts/onefile.py looks for.
 *
KILN_INTERNAL const struct kiln_bundle kiln_bundle_tuned = {
KILN_INTERNAL const struct kiln_bundle kiln_bundle_generic = {
 */
#include "bundle.h"

extern const struct kiln_bundle tuned_bundle, generic_bundle;
#define kiln_bundle_tuned tuned_bundle
#define kiln_bundle_generic generic_bundle
