/* fuzz_shard.c: any bytes as a shard are refused, or name one of its parts and say so when it is
 * written and read again. */
#include "fuzz.h"
#include "space.h"

#include <stdio.h>

const char *const fuzz_seeds[] = {
    "1/1", "2/8", "9999/9999", "0/1", "2/1", "1/10000", "1/", "/1", "1", "01/02", "1/2/3", " 1/2",
    "+1/2", "", NULL,
};
const char *const fuzz_words[] = { "/", "0", "1", "9999", "10000", "-", "+", " ", "x", NULL };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char written[32];
    struct shard shard, again;
    char *text = fuzz_text(data, size);
    if (shard_parse(text, &shard)) {
        abort_unless(shard.index >= 1 && shard.index <= shard.num && shard.num <= MAX_SHARDS);
        snprintf(written, sizeof written, "%u/%u", shard.index, shard.num);
        abort_unless(shard_parse(written, &again));
        abort_unless(shard.index == again.index && shard.num == again.num);
    }
    free(text);
    return 0;
}
