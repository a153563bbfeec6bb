/* record.h: journals as text.
 *
 *   kiln-journal  1
 *   device        PLATFORM DEVICE DRIVER
 *   generator     HASH                    of templates, tables and the journal's format
 *   fact          NAME VALUE              one row per device fact
 *   shard         I/N                     of `tune --shard I/N`, which searches a part; else absent
 *   merged        N                       of `merge`: from so many journals; else absent
 *   begin
 *   KIND PRECISION PAIR M N K [batch=N] CONFIGURATION OUTCOME SECONDS SPREAD COST MESSAGE CHECKSUM
 *
 * Fields are separated by tabs; that of a batch is there in rows of batches alone. KIND: search,
 * first (times of what is known already, at a few shapes), look (the best of a search again, at
 * every shape that was searched), edges, matrix (times for choosing), own (the same at the
 * application's own shapes), held (times that nothing but the losses comes from), again (the same
 * of the few fastest, for longer), generic (times of the generic bundle's recipes, to compare
 * with).
 * PAIR: nn, nt, tn or tt. COST: wall-clock seconds since the row before. The checksum is FNV-1a
 * (32 bit) of the row before it. A last row without its end is what a kill leaves behind and is
 * dropped; any other bad row refuses the whole journal.
 */
#ifndef KILN_CORE_RECORD_H
#define KILN_CORE_RECORD_H

#include "space.h"
#include "text.h"

/* RECORD_KIND(NAME, word) */
#define RECORD_KINDS \
    RECORD_KIND(SEARCH, "search") \
    RECORD_KIND(FIRST, "first") \
    RECORD_KIND(LOOK, "look") \
    RECORD_KIND(EDGES, "edges") \
    RECORD_KIND(MATRIX, "matrix") \
    RECORD_KIND(OWN, "own") \
    RECORD_KIND(HELD, "held") \
    RECORD_KIND(AGAIN, "again") \
    RECORD_KIND(GENERIC, "generic")

enum record_kind {
#define RECORD_KIND(name, word) RECORD_##name,
    RECORD_KINDS
#undef RECORD_KIND
    NUM_RECORD_KINDS
};

enum { RECORD_LINE_BYTES = 1024, RECORD_OUTCOME_BYTES = 12, RECORD_MESSAGE_BYTES = 256 };

struct record {
    enum record_kind kind;
    const struct precision *precision;
    int pair;                          /* kiln_pair() */
    WITH_SHAPE;
    uint32_t units;                    /* of the device that timed it; 0: as the journal's facts
                                          say; always 0 in rows from a text */
    struct config config;
    char outcome[RECORD_OUTCOME_BYTES];      /* "ok", or the cause of failure */
    double seconds, spread, cost;      /* seconds: of one operation; of "late" ones, the time that
                                          was left */
    bool used;                         /* by the present run; not in the text */
    char message[RECORD_MESSAGE_BYTES];
};

struct journal_head {
    struct device_facts facts;
    uint64_t generator;
    struct shard shard;
    unsigned merged;                   /* how many journals it was made of; 0: none */
};

/* Where coefficients come from: the number of a bundle, nearer bundles first (only coefficients of
 * one bundle compare); whether its rows name the device; whether they are of another text of the
 * recipe than the present one. */
struct prior_source {
    unsigned bundle;
    bool is_for_device, is_older;
};

struct records {
    struct journal_head head;
    size_t num, capacity;
    struct record *rows;               /* freed by records_free */
    size_t whole_bytes;                /* of the text, without a torn last row */
    /* Not in the text; NULL: nothing is known. Gives the coefficients that a bundle for the device
     * or a relative has of a configuration, or NULL; *source, all 0 before, then says which
     * bundle. */
    const struct kiln_time *(*prior)(const void *user, const struct device_facts *facts,
            const struct precision *precision, const struct config *config,
            struct prior_source *source);
    const void *prior_user;            /* handed to it */
    bool prior_is_own;                 /* they are of the bundle whose times are fitted anew, and
                                          count as guesses (fit.h) at shapes drawn from where
                                          those of the rows lie */
};

/* The first thing in which two heads differ so that the rows of one say nothing about the other:
 * "platform", "device", "driver", "generator" or a fact's name; NULL when they do not. The clock's
 * rate is left out, as some drivers report the present one. */
const char *journal_difference(const struct journal_head *a, const struct journal_head *b);

/* What the generator's tables and templates hash to. */
uint64_t record_generator_hash(void);

void record_format_head(const struct journal_head *head, struct text *text);
/* One line with its newline. False when it does not fit. */
bool record_format(const struct record *record, char line[RECORD_LINE_BYTES]);
/* The number that ends a line: the hash of all before it. */
uint32_t record_checksum(const char *bytes, size_t len);

enum journal_state {
    JOURNAL_BEGUN,                     /* the head is whole */
    JOURNAL_EMPTY,                     /* empty, or torn within the head */
    JOURNAL_UNFIT,                     /* a journal, but of another version */
    JOURNAL_FOREIGN                    /* not a journal */
};

/* Reads the head alone: rows mean something only to the generator that wrote them. *bytes and
 * *lines say where it ends. UNFIT and FOREIGN leave a message in error. */
enum journal_state journal_head_parse(const char *text, struct journal_head *head, size_t *bytes,
        unsigned *lines, char error[FAMILY_ERROR_BYTES]);

/* Parses a journal. An empty text, or one torn within its head, gives whole_bytes 0 and no rows. */
bool records_parse(const char *text, struct records *records, char error[FAMILY_ERROR_BYTES]);
bool records_add(struct records *records, const struct record *record);
void records_free(struct records *records);

/* Whether two rows hold the same evaluation: kind, task and configuration. */
bool record_same_evaluation(const struct record *a, const struct record *b);

/* Whether a row holds a time; that of one launch tells enough where it was slow. */
bool record_is_timed(const struct record *record);
/* Whether there was no time for the evaluation. */
bool record_is_late(const struct record *record);
/* Whether something did not work. */
bool record_is_failure(const struct record *record);

extern const char *const record_kind_words[NUM_RECORD_KINDS];

#endif
