/* journal.c: locks, resumes and appends. */
#include "journal.h"
#include "../core/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const long poll_nanoseconds = 20000000;

struct journal {
    int fd;
    char path[3072];
};

static bool failed(const struct journal *journal, const char *what, char error[FAMILY_ERROR_BYTES])
{
    snprintf(error, FAMILY_ERROR_BYTES, "%.100s: %.150s", journal->path, what);
    return false;
}

/* One write call per text: it is written whole or not at all, unless the disk is full. */
static bool write_whole(struct journal *journal, const char *bytes, size_t len,
        char error[FAMILY_ERROR_BYTES])
{
    const off_t before = lseek(journal->fd, 0, SEEK_END);
    const ssize_t written = write(journal->fd, bytes, len);
    if (written == (ssize_t) len)
        return true;
    const int cause = written < 0 ? errno : ENOSPC;
    if (before >= 0 && ftruncate(journal->fd, before))
        return failed(journal, "a row was written in part and could not be cut off", error);
    return failed(journal, strerror(cause), error);
}

/* Why the rows found are of no use for what is tuned now; NULL when they are. */
static const char *mismatch(const struct journal_head *head, const struct journal_head *found)
{
    const char *difference = journal_difference(head, found);
    if (difference && !strcmp(difference, "generator"))
        return "made by another version of the kernels: name another journal";
    if (difference)
        return "made on another device or driver, or with other device facts: name another journal";
    return NULL;
}

/* Rows of one shard do not mix with those of another one, or of the whole. */
static const char *other_part(const struct journal_head *head, const struct journal_head *found)
{
    if (head->shard.num == found->shard.num && head->shard.index == found->shard.index)
        return NULL;
    if (!head->shard.num)
        return "holds one shard of a search: merge it with the others";
    return found->shard.num ? "holds another shard: name another journal"
                            : "holds no shard: name another journal";
}

/* Starts the journal over. What it holds may only be the beginning of a head that a kill tore. */
static bool begin(struct journal *journal, const struct journal_head *head, const char *found,
        char error[FAMILY_ERROR_BYTES])
{
    struct text text = { 0 };
    record_format_head(head, &text);
    bool ok = !text.failed || failed(journal, "out of memory", error);
    if (ok && strncmp(found, text.bytes, strlen(found)))
        ok = failed(journal, "neither a journal nor empty: name another one", error);
    if (ok && ftruncate(journal->fd, 0))
        ok = failed(journal, strerror(errno), error);
    ok = ok && write_whole(journal, text.bytes, text.len, error);
    text_free(&text);
    return ok;
}

static bool is_at_path(const struct journal *journal)
{
    struct stat opened, there;
    return !fstat(journal->fd, &opened) && !stat(journal->path, &there) &&
           opened.st_dev == there.st_dev && opened.st_ino == there.st_ino;
}

/* A build waits for the lock: if ninja is killed, its tuner goes on until its time is up. */
static bool open_locked(struct journal *journal, bool waits, char error[FAMILY_ERROR_BYTES])
{
    journal->fd = open(journal->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (journal->fd < 0)
        return failed(journal, strerror(errno), error);
    if (!flock(journal->fd, LOCK_EX | LOCK_NB))
        return true;
    if (!waits || errno != EWOULDBLOCK)
        return failed(journal, "another tuner writes this journal: let it end first", error);
    fprintf(stderr, "kiln-tune: %s: another tuner writes this journal; waiting until it ends\n",
            journal->path);
    while (flock(journal->fd, LOCK_EX | LOCK_NB)) {
        if (nanosleep(&(struct timespec){ .tv_nsec = poll_nanoseconds }, NULL)) /* a signal */
            return failed(journal, "stopped while another tuner wrote this journal", error);
    }
    if (is_at_path(journal))
        return true;
    close(journal->fd); /* the locked file was set aside meanwhile */
    return open_locked(journal, waits, error);
}

/* Sets the old rows aside, beside those set aside before, and begins an empty journal. */
static bool put_aside(struct journal *journal, const struct journal_head *head, const char *why,
        char error[FAMILY_ERROR_BYTES])
{
    char old[sizeof journal->path + 16];
    for (int i = 1; i < 1000; i++) {
        snprintf(old, sizeof old, "%s.old%d", journal->path, i);
        if (access(old, F_OK))
            break;
    }
    if (rename(journal->path, old))
        return failed(journal, strerror(errno), error);
    fprintf(stderr, "kiln-tune: %s: %s; it is now %s, and a new one begins\n", journal->path, why,
            old);
    close(journal->fd);
    return open_locked(journal, false, error) && begin(journal, head, "", error);
}

/* Goes on after the rows of a journal whose head fits. */
static bool take_rows(struct journal *journal, const char *text, bool set_aside,
        struct records *records, char error[FAMILY_ERROR_BYTES])
{
    const struct journal_head head = records->head;
    char cause[FAMILY_ERROR_BYTES], advice[FAMILY_ERROR_BYTES];
    if (!records_parse(text, records, cause)) {
        records->head = head;
        snprintf(advice, sizeof advice,
                "%.80s: delete this line to go on with the rest, or name "
                "another journal",
                cause);
        return set_aside ? put_aside(journal, &head, cause, error) : failed(journal, advice, error);
    }
    return !ftruncate(journal->fd, (off_t) records->whole_bytes) ||
           failed(journal, strerror(errno), error);
}

/* Whether there is text before the first NUL and nothing but NULs from there on. Some file systems
 * leave NULs in place of rows when the power fails; they are cut off with the row that they
 * tore. */
static bool ends_in_nuls(const char *text, size_t len)
{
    size_t at = strlen(text);
    if (at == 0 && len > 0)
        return false;
    while (at < len && text[at] == '\0')
        at++;
    return at == len;
}

static bool resume(struct journal *journal, const struct journal_head *head, bool set_aside,
        struct records *records, char error[FAMILY_ERROR_BYTES])
{
    struct journal_head found;
    char cause[FAMILY_ERROR_BYTES];
    size_t bytes;
    unsigned lines = 0;
    size_t len;
    char *text = files_read_bytes(journal->path, &len, error);
    if (!text)
        return false;
    const enum journal_state state = journal_head_parse(text, &found, &bytes, &lines, cause);
    const char *unfit = !ends_in_nuls(text, len) ? "not a text: it holds a NUL byte"
                      : state == JOURNAL_UNFIT   ? cause
                      : state == JOURNAL_BEGUN   ? mismatch(head, &found)
                                                 : NULL;
    const char *other = state == JOURNAL_BEGUN && !unfit ? other_part(head, &found) : NULL;
    bool ok;
    records->head = *head;
    if (state == JOURNAL_FOREIGN)
        unfit = cause;
    if (other)
        ok = failed(journal, other, error);
    else if (unfit)
        ok = set_aside ? put_aside(journal, head, unfit, error) : failed(journal, unfit, error);
    else if (state == JOURNAL_BEGUN)
        ok = take_rows(journal, text, set_aside, records, error);
    else
        ok = begin(journal, head, text, error);
    free(text);
    return ok;
}

struct journal *journal_open(const char *path, const struct journal_head *head, bool set_aside,
        struct records *records, char error[FAMILY_ERROR_BYTES])
{
    struct journal *journal = calloc(1, sizeof *journal);
    *records = (struct records){ .num = 0 };
    if (!journal || strlen(path) >= sizeof journal->path) {
        snprintf(error, FAMILY_ERROR_BYTES,
                journal ? "the journal's path is too long" : "out of memory");
        free(journal);
        return NULL;
    }
    strcpy(journal->path, path);
    if (open_locked(journal, set_aside, error) && resume(journal, head, set_aside, records, error))
        return journal;
    records_free(records);
    journal_close(journal);
    return NULL;
}

bool journal_append(struct journal *journal, const struct record *rows, unsigned num,
        char error[FAMILY_ERROR_BYTES])
{
    char line[RECORD_LINE_BYTES];
    struct text text = { 0 };
    bool ok = true;
    for (unsigned i = 0; i < num && ok; i++) {
        ok = record_format(&rows[i], line) || failed(journal, "a row is too long", error);
        if (ok)
            text_add(&text, "%s", line);
    }
    if (ok && text.failed)
        ok = failed(journal, "out of memory", error);
    ok = ok && (!num || write_whole(journal, text.bytes, text.len, error));
    text_free(&text);
    return ok;
}

void journal_close(struct journal *journal)
{
    if (journal && journal->fd >= 0)
        close(journal->fd);
    free(journal);
}
