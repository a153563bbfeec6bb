/* kinship.c: which devices a bundle is for, and how near the one it was tuned on is to another.
 *
 * A bundle is for the devices that its globs name, with the drivers that they name. Others may be
 * relatives: devices of the same platform and kind that run the same kernels, and on which the same
 * ones are likely to be fast; also the same device with a driver that the bundle was verified on.
 * Pure: no OpenCL is called.
 */
#include "internal.h"
#include "platform.h"

#include <stdlib.h>
#include <string.h>

/* The pattern ends before `end`. Only the last star is ever reconsidered: an earlier one can always
 * give way to a later one. So the time is at most the product of the two lengths. */
static bool matches(const char *pattern, const char *end, const char *text)
{
    const char *star = NULL, *resume = NULL;
    while (*text != '\0') {
        if (pattern < end && *pattern == '*') {
            star = pattern++;
            resume = text;
        } else if (pattern < end && *pattern == *text) {
            pattern++;
            text++;
        } else if (star != NULL) {
            pattern = star + 1;
            text = ++resume;
        } else {
            return false;
        }
    }
    while (pattern < end && *pattern == '*') {
        pattern++;
    }
    return pattern == end;
}

bool kiln_glob_match(const char *pattern, const char *text)
{
    return matches(pattern, pattern + strlen(pattern), text);
}

/* Versions may have nothing in common: | separates patterns, of which one is enough. */
static bool driver_matches(const char *patterns, const char *driver)
{
    const char *end = patterns + strcspn(patterns, "|");
    while (!matches(patterns, end, driver)) {
        if (*end == '\0') {
            return false;
        }
        patterns = end + 1;
        end = patterns + strcspn(patterns, "|");
    }
    return true;
}

static bool matches_or_any(const char *pattern, const char *text)
{
    return pattern == NULL || kiln_glob_match(pattern, text);
}

/* Whatever the driver is. */
static bool device_matches(const struct kiln_match *match, const struct kiln_device_facts *facts)
{
    return matches_or_any(match->platform, facts->platform) &&
           matches_or_any(match->device, facts->device) &&
           (match->native_vector_float == 0 ||
                   match->native_vector_float == facts->native_vector_float) &&
           (match->compute_capability == 0 ||
                   match->compute_capability == facts->compute_capability);
}

bool kiln_bundle_is_generic(const struct kiln_bundle *bundle)
{
    const struct kiln_match *match = &bundle->match;
    return match->platform == NULL && match->device == NULL && match->driver == NULL &&
           match->native_vector_float == 0 && match->compute_capability == 0;
}

/* A driver whose compiler may end the process is trusted in verified versions alone. */
static bool driver_is_trusted(const struct kiln_match *match, const struct kiln_device_facts *facts)
{
    return !kiln_compiles_in_process(facts->platform) ||
           (match->driver != NULL && driver_matches(match->driver, facts->driver)) ||
           (match->verified != NULL && driver_matches(match->verified, facts->driver));
}

/* 0, what a driver may tell of a scalar device, and 1 are the same. */
static bool same_vectors(uint32_t a, uint32_t b)
{
    return (a > 1 ? a : 1) == (b > 1 ? b : 1);
}

/* NVIDIA's devices run what is for an earlier compute capability, and differ in little else. */
static bool is_same_kind(const struct kiln_device_traits *traits,
        const struct kiln_device_facts *facts)
{
    if (traits->compute_capability != 0 || facts->compute_capability != 0) {
        return traits->compute_capability != 0 &&
               traits->compute_capability <= facts->compute_capability;
    }
    return traits->is_cpu == facts->is_cpu &&
           same_vectors(traits->native_vector_float, facts->native_vector_float);
}

static bool is_relative(const struct kiln_bundle *bundle, const struct kiln_device_facts *facts)
{
    return bundle->traits.compute_units > 0 && bundle->match.platform != NULL &&
           kiln_glob_match(bundle->match.platform, facts->platform) &&
           driver_is_trusted(&bundle->match, facts) && is_same_kind(&bundle->traits, facts);
}

/* log2 in 1/65536. The bits below the leading one stand for the fraction: off by at most 0.09. */
static int64_t log2_fixed(uint64_t value)
{
    enum { FRACTION_BITS = 16 };
    const uint64_t x = value > 0 ? value : 1;
    const int exponent = 63 - __builtin_clzll(x);
    const uint64_t below = x - (UINT64_C(1) << exponent);
    const uint64_t fraction = exponent >= FRACTION_BITS ? below >> (exponent - FRACTION_BITS)
                                                        : below << (FRACTION_BITS - exponent);
    return ((int64_t) exponent << FRACTION_BITS) + (int64_t) fraction;
}

/* In 1/65536 of an octave. */
static int64_t octaves_between(size_t a, size_t b)
{
    return llabs((long long) (log2_fixed(a) - log2_fixed(b)));
}

int64_t kiln_bundle_distance(const struct kiln_bundle *bundle,
        const struct kiln_device_facts *facts)
{
    enum { BITS_PER_CAPABILITY = 24 }; /* more than the octaves below can come to */
    const struct kiln_device_traits *traits = &bundle->traits;
    const char *driver = bundle->match.driver;
    const bool is_device = device_matches(&bundle->match, facts);
    if (is_device && (driver == NULL || driver_matches(driver, facts->driver))) {
        return 0;
    }
    if (!is_relative(bundle, facts)) {
        return INT64_MAX;
    }
    if (is_device) {
        return 1; /* another driver alone */
    }
    int64_t later = (int64_t) facts->compute_capability - traits->compute_capability;
    return 2 + (later << BITS_PER_CAPABILITY) +
           octaves_between(traits->compute_units, facts->compute_units) +
           octaves_between(traits->local_bytes, facts->local_bytes);
}

bool kiln_bundle_matches(const struct kiln_bundle *bundle, const struct kiln_device_facts *facts)
{
    return kiln_bundle_distance(bundle, facts) == 0;
}
