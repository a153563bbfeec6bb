/* fuzz_facts.c: any bytes as device.tsv are refused with a message, or give facts that are found
 * again when they are written, and for which every family can say whether it is legal. */
#include "family.h"
#include "fuzz.h"
#include "text.h"

const char *const fuzz_seeds[] = {
    "name\tvalue\tmeaning\nplatform\tP\tCL_PLATFORM_NAME\nMAX_ITEMS\t4096\twork-items\nIS_CPU\t1\n",
    "kiln-winners\t1\nfact\tLOCAL_BYTES\t32768\r\nfact\tCLOCK_MHZ\t2600", "UNITS\t-1\n",
    "UNITS\t9223372036854775808\n", "UNITS\t\n", "UNITS\n", "UNITS", "name\tvalue\n", "", NULL,
};
const char *const fuzz_words[] = {
#define FACT(name, meaning) #name "\t",
#include "facts.inc"
#undef FACT
    "fact\t", "\t", "\n", "\r\n", "-", "+", " ", NULL,
};

static void check(const struct device_facts *facts)
{
    struct device_facts again;
    struct text text = { 0 };
    char error[FAMILY_ERROR_BYTES];
    for (int i = 0; i < NUM_FACTS; i++)
        text_add(&text, "%s%s\t%ld\tmeaning\n", i % 2 ? "fact\t" : "", fact_names[i],
                facts->value[i]);
    abort_unless(!text.failed && facts_parse(text.bytes, &again, error));
    abort_unless(!memcmp(facts->value, again.value, sizeof again.value));
    text_free(&text);
}

static void check_families(const struct device_facts *facts)
{
    for (size_t i = 0; i < num_families; i++) {
        struct config config;
        const char *reason = NULL;
        const struct problem problem = problem_of_pair(&precisions[i % KILN_NUM_PRECISIONS],
                (int) i % NUM_PAIRS);
        config_default(families[i], &config);
        abort_unless(config_legal(&config, &problem, facts, &reason) || reason);
        config_rank(&config, &problem, facts);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct device_facts facts;
    char error[FAMILY_ERROR_BYTES] = "";
    char *text = fuzz_text(data, size);
    if (facts_parse(text, &facts, error)) {
        check(&facts);
        check_families(&facts);
    } else
        abort_unless(fuzz_is_message(error, sizeof error));
    free(text);
    return 0;
}
