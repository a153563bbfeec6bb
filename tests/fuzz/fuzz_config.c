/* fuzz_config.c: any bytes as a configuration are refused with a message, or mean a configuration
 * that says the same when it is printed and read again. */
#include "family.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

const char *const fuzz_seeds[] = {
    "packed", "packed TM=12 NV=2 VEC=16 MP=2 NP=16", "tiled WGM=16 WGN=16 TM=4 NV=4 LOCALA=0 PAD=1",
    "  direct   INDEX=32  KU=4 ", "packed TM", "packed TM=", "packed TM==8", "packed XY=1",
    "packed TM=08 TM=12", "tiled PAD=-1", "nothing", "", NULL,
};
const char *const fuzz_words[] = {
    "packed ", "tiled ", "direct ", "thin ", "async ", "blocked ", "blockmajor ", "tma ", " TM=",
    " NV=", " VEC=", " KU=", " INDEX=64", "=", " ", "\t", NULL,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char error[FAMILY_ERROR_BYTES] = "", first[CONFIG_TEXT_BYTES], second[CONFIG_TEXT_BYTES];
    struct config config, again;
    char *text = fuzz_text(data, size);
    if (config_parse(text, &config, error)) {
        config_format(&config, first);
        if (!config_parse(first, &again, error) || !config_equal(&config, &again))
            abort();
        config_format(&again, second);
        if (strcmp(first, second))
            abort();
    } else if (!fuzz_is_message(error, sizeof error))
        abort();
    free(text);
    return 0;
}
