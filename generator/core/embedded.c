/* embedded.c: takes the binaries out of the C that emit.c wrote, and compares the rest. */
#include "embedded.h"
#include "emit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char table_mark[] = "static const struct kiln_binary ";
static const char data_mark[] = "static const unsigned char ", block_end[] = "};\n\n";

struct reader {
    struct assembly *assembly;
    const char *source, *id;           /* id: what all names begin with */
    uint32_t num_programs;             /* so far */
    struct text rest;                  /* without binaries */
};

static bool begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

bool embedded_is_there(const char *source)
{
    return strstr(source, table_mark);
}

/* The line begins a table of binaries, or the bytes of one. */
static bool is_block(const struct reader *reader, const char *line)
{
    const size_t len = strlen(reader->id);
    return begins(line, table_mark) ||
           (begins(line, data_mark) && begins(line + strlen(data_mark), reader->id) &&
                   begins(line + strlen(data_mark) + len, "_binary_"));
}

/* How many binaries the table of a program has that are of this text. */
static unsigned count_binaries(const struct reader *reader, uint32_t program, uint64_t hash)
{
    char mark[64];
    struct text name = { 0 };
    unsigned num = 0;
    text_add(&name, "%s%s_binaries_%u[] = {\n", table_mark, reader->id, program);
    const char *p = name.failed ? NULL : strstr(reader->source, name.bytes);
    const char *end = p ? strstr(p, block_end) : NULL;
    snprintf(mark, sizeof mark, " UINT64_C(0x%016" PRIx64 "), UINT64_C(0x", hash);
    while (end && (p = strstr(p, mark)) && p < end) {
        num++;
        p += strlen(mark);
    }
    text_free(&name);
    return num;
}

/* The row of a program, which then has no binaries. */
static bool read_program(struct reader *reader, const char *row, const char *end)
{
    struct text tail = { 0 };
    unsigned ptx, first, num_symbols, bytes, num;
    uint64_t hash;
    int at = 0;
    const uint32_t number = reader->num_programs++;
    if (number >= reader->assembly->bundle.num_programs ||
            sscanf(row, "    { UINT64_C(0x%" SCNx64 "), %u, %u, %u, %u, %n%u,", &hash, &ptx, &first,
                    &num_symbols, &bytes, &at, &num) != 6)
        return false;
    struct kiln_program *program = &reader->assembly->programs[number];
    if (num)
        text_add(&tail, "%u, %s_binaries_%u },\n", num, reader->id, number);
    else
        text_add(&tail, "0, NULL },\n");
    const bool ok = !tail.failed && tail.len == (size_t) (end - row - at) &&
                    !memcmp(tail.bytes, row + at, tail.len) && hash == program->hash &&
                    count_binaries(reader, number, hash) == num;
    text_free(&tail);
    text_add(&reader->rest, "%.*s0, NULL },\n", at, row);
    if (num && !num_symbols)
        program->first_symbol = program->num_symbols = program->text_bytes = 0;
    return ok;
}

/* False when it is not as emit.c writes it. */
static bool read_all(struct reader *reader)
{
    for (const char *line = reader->source, *end; *line; line = end) {
        if (is_block(reader, line)) {
            end = strstr(line, block_end);
            if (!end)
                return false;
            end += strlen(block_end);
            continue;
        }
        end = line + strcspn(line, "\n");
        end += *end == '\n';
        if (!begins(line, "    { UINT64_C(0x"))
            text_add(&reader->rest, "%.*s", (int) (end - line), line);
        else if (!read_program(reader, line, end))
            return false;
    }
    return !reader->rest.failed;
}

bool embedded_is_emitted(const char *source, struct assembly *assembly, const char *comment)
{
    struct text symbol = { 0 }, emitted = { 0 };
    emit_symbol(assembly->bundle.name, &symbol);
    struct reader reader = { .assembly = assembly, .source = source };
    reader.id = symbol.failed ? NULL : symbol.bytes + strlen("kiln_");
    bool same = reader.id && read_all(&reader);
    if (same) {
        emit_bundle(&assembly->bundle, comment, &emitted);
        same = !emitted.failed && emitted.len == reader.rest.len &&
               !memcmp(emitted.bytes, reader.rest.bytes, emitted.len);
    }
    text_free(&symbol);
    text_free(&emitted);
    text_free(&reader.rest);
    return same;
}
