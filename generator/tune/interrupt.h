/* interrupt.h: SIGINT and SIGTERM, put off while there is something to tidy up. */
#ifndef KILN_TUNE_INTERRUPT_H
#define KILN_TUNE_INTERRUPT_H

#include <signal.h>

enum { INTERRUPT_SIGNALS = 2 };

/* What the signals did before. */
struct interrupt {
    struct sigaction was[INTERRUPT_SIGNALS];
};

/* The signal that came since interrupt_defer, or 0. */
extern volatile int interrupt_caught;

/* From here to interrupt_end the signals set interrupt_caught and do nothing else. Not nested. */
void interrupt_defer(struct interrupt *interrupt);

/* The signals do again what they did before. A signal that came meanwhile acts now: it may end the
 * process. */
void interrupt_end(const struct interrupt *interrupt);

#endif
