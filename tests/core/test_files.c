/* test_files.c: whole files in and out, generator/core/files.c. */
#include "wide.h"
#include "files.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/kiln-files-XXXXXX";
static char path[64], beside[64];

static int make_folder(void **state)
{
    (void) state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/file", folder);
    snprintf(beside, sizeof beside, "%s/file.new", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void) state;
    unlink(path);
    return rmdir(folder);
}

static void check_content(const char *bytes)
{
    char error[FILES_ERROR_BYTES] = "";
    char *found = files_read(path, error);
    assert_string_equal(error, "");
    assert_string_equal(found, bytes);
    free(found);
}

static void files_come_back(void **state)
{
    (void) state;
    char error[FILES_ERROR_BYTES] = "";
    static char large[300001];
    assert_true(files_write(path, "text\n", 5, error));
    check_content("text\n");
    assert_true(files_write(path, "", 0, error));
    check_content("");
    for (size_t size = 16382; size <= 16386; size++) {
        memset(large, 'x', size);
        large[size] = '\0';
        assert_true(files_write(path, large, size, error));
        check_content(large);
    }
    memset(large, 'y', sizeof large - 1);
    assert_true(files_write(path, large, sizeof large - 1, error));
    check_content(large);
    assert_int_not_equal(access(beside, F_OK), 0);
}

/* Build systems go by a file's time. */
static void an_unchanged_file_is_not_touched(void **state)
{
    (void) state;
    const struct timespec old[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
    struct stat before, after;
    char error[FILES_ERROR_BYTES];
    assert_true(files_write(path, "same", 4, error));
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    assert_int_equal(stat(path, &before), 0);
    assert_true(files_write(path, "same", 4, error));
    assert_int_equal(stat(path, &after), 0);
    assert_true(before.st_mtime == after.st_mtime && before.st_ino == after.st_ino);
    assert_true(files_write(path, "samE", 4, error));
    assert_int_equal(stat(path, &after), 0);
    assert_true(after.st_mtime > before.st_mtime);
    check_content("samE");
}

static void a_full_disk_leaves_the_old_file(void **state)
{
    (void) state;
    static char large[100000];
    struct rlimit was, small;
    char error[FILES_ERROR_BYTES] = "";
    assert_true(files_write(path, "old", 3, error));
    memset(large, 'x', sizeof large);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    small = was;
    small.rlim_cur = 50000;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const bool written = files_write(path, large, sizeof large, error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    signal(SIGXFSZ, handler);
    assert_false(written);
    assert_non_null(strstr(error, path));
    assert_non_null(strstr(error, "File too large"));
    check_content("old");
    assert_int_not_equal(access(beside, F_OK), 0);
}

/* A link stays one, a mode stays, and what is no plain file is written to. */
static void what_is_there_stays_what_it_is(void **state)
{
    (void) state;
    char error[FILES_ERROR_BYTES] = "", link[64], pipe[64], got[8] = "";
    struct stat status;
    snprintf(link, sizeof link, "%s/link", folder);
    snprintf(pipe, sizeof pipe, "%s/pipe", folder);
    assert_true(files_write(path, "old", 3, error));
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(symlink("file", link), 0);
    assert_true(files_write(link, "linked", 6, error));
    check_content("linked");
    assert_true(!lstat(link, &status) && S_ISLNK(status.st_mode));
    assert_true(!stat(path, &status) && (status.st_mode & 07777) == 0640);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    const int end = open(pipe, O_RDWR);
    assert_true(files_write(pipe, "piped", 5, error));
    assert_int_equal(read(end, got, sizeof got), 5);
    assert_string_equal(got, "piped");
    assert_true(!lstat(pipe, &status) && S_ISFIFO(status.st_mode));
    close(end), unlink(pipe), unlink(link);
}

static void what_never_ends_is_not_read(void **state)
{
    (void) state;
    char error[FILES_ERROR_BYTES] = "";
    assert_null(files_read("/dev/zero", error));
    assert_string_equal(error, "/dev/zero: File too large");
}

static void errors_name_path_and_cause(void **state)
{
    (void) state;
    char error[FILES_ERROR_BYTES] = "", name[5000];
    assert_null(files_read("/nowhere/file", error));
    assert_string_equal(error, "/nowhere/file: No such file or directory");
    assert_null(files_read(folder, error));
    assert_non_null(strstr(error, "Is a directory"));
    assert_false(files_write("/nowhere/file", "x", 1, error));
    assert_string_equal(error, "/nowhere/file.new: No such file or directory");
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_false(files_write(name, "x", 1, error));
    assert_non_null(strstr(error, "File name too long"));
    assert_true(strlen(error) < FILES_ERROR_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_come_back),
        cmocka_unit_test(an_unchanged_file_is_not_touched),
        cmocka_unit_test(a_full_disk_leaves_the_old_file),
        cmocka_unit_test(what_is_there_stays_what_it_is),
        cmocka_unit_test(what_never_ends_is_not_read),
        cmocka_unit_test(errors_name_path_and_cause),
    };
    return cmocka_run_group_tests_name("files", tests, make_folder, remove_folder);
}
