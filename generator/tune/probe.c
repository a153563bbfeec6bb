/* probe.c: see probe.h. */
#include "probe.h"
#include "device.h"
#include "../core/text.h"

#include <stdio.h>
#include <stdlib.h>

static void print_json(const struct device_facts *facts)
{
    struct text text = { 0 };
    text_add(&text, "{\n  \"platform\": ");
    text_quote_json(&text, facts->platform);
    text_add(&text, ",\n  \"device\": ");
    text_quote_json(&text, facts->device);
    text_add(&text, ",\n  \"driver\": ");
    text_quote_json(&text, facts->driver);
    text_add(&text, ",\n  \"facts\": {");
    for (int i = 0; i < NUM_FACTS; i++)
        text_add(&text, "%s\n    \"%s\": %ld", i ? "," : "", fact_names[i], facts->value[i]);
    printf("%s\n  }\n}\n", text.failed ? "" : text.bytes);
    text_free(&text);
}

static void print_table(const struct device_facts *facts)
{
    printf("name\tvalue\tmeaning\n");
    printf("platform\t%s\tCL_PLATFORM_NAME\n", facts->platform);
    printf("device\t%s\tCL_DEVICE_NAME\n", facts->device);
    printf("driver\t%s\tCL_DRIVER_VERSION\n", facts->driver);
    for (int i = 0; i < NUM_FACTS; i++)
        printf("%s\t%ld\t%s\n", fact_names[i], facts->value[i], fact_meanings[i]);
}

int probe_main(const char *device, bool json)
{
    struct device_facts facts;
    cl_device_id found;
    char error[FAMILY_ERROR_BYTES];
    if (!device_find(device, &found, error) || !device_facts(found, &facts, error)) {
        fprintf(stderr, "kiln-tune: %s\n", error);
        return EXIT_FAILURE;
    }
    if (json)
        print_json(&facts);
    else
        print_table(&facts);
    return EXIT_SUCCESS;
}
