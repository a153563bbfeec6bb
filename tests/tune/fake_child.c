/* fake_child.c: a trial process that misbehaves on demand; see the protocol in
 * generator/tune/protocol.h. Its device's name says how it behaves as a process:
 *
 *     good              as it should
 *     slow-greeting     greets after a second
 *     bad-greeting      greets with nonsense
 *     crash-greeting    dies before it greets
 *     no-device         says that there is no such device
 *     no-context        says that it cannot work
 *     bad-canary        its device computes wrong answers
 *     die-idle          ends by itself after each request
 *     break:PATH        its canary works until the file at PATH exists; it makes that file as soon
 *                       as it is asked for anything else
 *     alone:PATH        the first of its processes, which makes the file at PATH, works; the others
 *                       say that they cannot
 *     kill:PATH         is killed at a config's TM of 4 if there is no file at PATH, which it makes
 *     end:PATH          the same, with SIGTERM; each time if PATH is empty
 *     die-slowly        closes its output at a config's TM of 4, and dies later
 *     linger:PATH       closes its output at a config's TM of 4 and does not end, if there is no
 *                       file at PATH, which it makes
 *     meet:PATH         a config's TM of 6 waits until the file at PATH is there, one of 8 makes it
 *     interleaved       begins each config twice and answers at the end, last config first
 *     unhurried         the same, and time passes each time
 *
 * and a config's TM, what becomes of it: 1 is measured, the others as in behave().
 *
 * When time is to pass, it sends SIGUSR1 to its parent, whose clock a test has made to follow.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static const char *device;

static void say(const char *line)
{
    printf("%s\n", line);
    fflush(stdout);
}

static void wait_seconds(double seconds)
{
    const struct timespec time = { (time_t) seconds, (long) ((seconds - (time_t) seconds) * 1e9) };
    nanosleep(&time, NULL);
}

/* Time passes for the parent, after it has read what was said. */
static void pass_time(void)
{
    int unread = 0;
    while (!ioctl(STDOUT_FILENO, FIONREAD, &unread) && unread)
        wait_seconds(0.001);
    kill(getppid(), SIGUSR1);
}

static void hang(void)
{
    signal(SIGTERM, SIG_IGN);
    for (;;) {
        pass_time();
        wait_seconds(0.01);
    }
}

/* Answers no more; returns when the parent has noticed. */
static void fall_silent(void)
{
    close(STDOUT_FILENO);
    while (getchar() != EOF)
        continue;
}

/* As where a driver takes long to let its device go. */
static void die_slowly(void)
{
    fall_silent();
    wait_seconds(0.5);
    fprintf(stderr, "the device is let go\n");
    raise(SIGSEGV);
}

static void flood(void)
{
    for (;;)
        if (printf("and on and on ") < 0)
            exit(1);
}

/* Does what the config's TM says; returns when it is to be answered. */
static void behave(int tm)
{
    switch (tm) {
    case 2:
        fprintf(stderr, "one line\nassertion failed in a driver\n");
        raise(SIGSEGV);
        break;
    case 4: hang(); break;
    case 6:
        say("I am not part of any protocol");
        hang();
        break;
    case 8:
        printf("result 0 ok 0.0");
        fflush(stdout);
        exit(0);
    case 12: flood(); break;
    case 14: exit(3);
    default: break;
    }
}

static void make_file(const char *path)
{
    FILE *file = fopen(path, "w");
    if (file)
        fclose(file);
}

/* The first of its processes that gets here is killed, as if by somebody else. */
static void be_killed(const char *path, int number)
{
    if (!access(path, F_OK))
        return;
    make_file(path);
    kill(getpid(), number);
}

/* The first of its processes that gets here answers no more, and does not end. */
static void linger(const char *path)
{
    if (!access(path, F_OK))
        return;
    make_file(path);
    fall_silent();
    hang();
}

/* Two configs that must be under way at once. */
static void meet(int tm, const char *path)
{
    while (tm == 6 && access(path, F_OK))
        wait_seconds(0.001);
    if (tm == 8)
        make_file(path);
}

/* The value of TM in "config direct ... TM=4 ..."; -1 when there is none. */
static int tm_of(const char *line)
{
    const char *at = strstr(line, " TM=");
    return at ? atoi(at + 4) : -1;
}

static void answer(int config, int tm)
{
    char line[64];
    snprintf(line, sizeof line, "result %d ok %g 0.01 ", config, tm * 1e-3);
    say(line);
}

static void serve_interleaved(const int *tm, int num)
{
    char line[64];
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < num; i++) {
            snprintf(line, sizeof line, "begin %d", i);
            say(line);
            if (round == 1)
                behave(tm[i]);
            if (!strcmp(device, "unhurried"))
                pass_time();
        }
    for (int i = num; i-- > 0;)
        answer(i, tm[i]);
}

static void serve_in_turn(const int *tm, int num)
{
    char line[64];
    for (int i = 0; i < num; i++) {
        snprintf(line, sizeof line, "begin %d", i);
        say(line);
        if (!strncmp(device, "meet:", 5))
            meet(tm[i], device + 5);
        else if (!strncmp(device, "kill:", 5) && tm[i] == 4)
            be_killed(device + 5, SIGKILL);
        else if (!strncmp(device, "end:", 4) && tm[i] == 4)
            be_killed(device + 4, SIGTERM);
        else if (!strcmp(device, "die-slowly") && tm[i] == 4)
            die_slowly();
        else if (!strncmp(device, "linger:", 7) && tm[i] == 4)
            linger(device + 7);
        else
            behave(tm[i]);
        answer(i, tm[i]);
    }
}

static void break_device(void)
{
    if (!strncmp(device, "break:", 6))
        make_file(device + 6);
}

static int is_broken(void)
{
    return !strcmp(device, "bad-canary") ||
           (!strncmp(device, "break:", 6) && !access(device + 6, F_OK));
}

/* Builds without an answer. One that is broken breaks here already, all but GARBAGE and PARTIAL,
 * which are answers. */
static int build(void)
{
    char line[512];
    if (!fgets(line, sizeof line, stdin))
        return 0;
    const int tm = tm_of(line);
    if (tm != 6 && tm != 8 && tm != 12)
        behave(tm);
    return 1;
}

static int serve(const char *request)
{
    char line[512];
    int tm[64], num = 0;
    const char *last = strrchr(request, ' ');
    if (!strcmp(request, "canary\n")) {
        say(is_broken() ? "canary the device computed a wrong answer" : "canary ok");
        return 1;
    }
    if (!strncmp(request, "build ", 6))
        return build();
    break_device();
    num = last ? atoi(last) : 0;
    if (num < 1 || num > 64)
        return 0;
    for (int i = 0; i < num; i++) {
        if (!fgets(line, sizeof line, stdin))
            return 0;
        tm[i] = tm_of(line);
    }
    if (!strcmp(device, "interleaved") || !strcmp(device, "unhurried"))
        serve_interleaved(tm, num);
    else
        serve_in_turn(tm, num);
    say("done");
    return strcmp(device, "die-idle") != 0;
}

/* 11 12 13 ..., one for each fact. */
static void say_facts(void)
{
    enum {
        NUM = 0
#define FACT(name, meaning) +1
#include "../../generator/core/facts.inc"
#undef FACT
    };
    printf("facts");
    for (int i = 0; i < NUM; i++)
        printf(" %d", 11 + i);
    say("");
}

static void greet(void)
{
    if (!strcmp(device, "slow-greeting"))
        wait_seconds(1);
    if (!strcmp(device, "crash-greeting"))
        abort();
    if (!strcmp(device, "no-device")) {
        say("absent no OpenCL device was found");
        exit(1);
    }
    const int is_second = !strncmp(device, "alone:", 6) && !access(device + 6, F_OK);
    if (!strncmp(device, "alone:", 6))
        make_file(device + 6);
    if (!strcmp(device, "no-context") || is_second) {
        say("error no context on this device");
        exit(1);
    }
    say(strcmp(device, "bad-greeting") ? "kiln-trial 2" : "good morning");
    say("platform Fake");
    say("device Fake device 9000");
    say("driver 1.0 beta");
    say("unit 0:65:0.0");
    say_facts();
}

int main(int argc, char **argv)
{
    char line[512];
    const bool is_member = argc == 5 && !strcmp(argv[4], "--member");
    if (argc != 4 + is_member || strcmp(argv[1], "trial") || strcmp(argv[2], "--device"))
        return 2;
    device = argv[3];
    greet();
    while (fgets(line, sizeof line, stdin))
        if (!serve(line))
            return 0;
    return 0;
}
