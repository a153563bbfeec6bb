/* interrupt.c: see interrupt.h. */
#include "interrupt.h"

#include <stddef.h>

static const int signals[INTERRUPT_SIGNALS] = { SIGINT, SIGTERM };

volatile int interrupt_caught;

static void note(int number)
{
    interrupt_caught = number;
}

void interrupt_defer(struct interrupt *interrupt)
{
    const struct sigaction action = { .sa_handler = note };
    interrupt_caught = 0;
    for (int i = 0; i < INTERRUPT_SIGNALS; i++)
        sigaction(signals[i], &action, &interrupt->was[i]);
}

void interrupt_end(const struct interrupt *interrupt)
{
    for (int i = 0; i < INTERRUPT_SIGNALS; i++)
        sigaction(signals[i], &interrupt->was[i], NULL);
    if (interrupt_caught)
        raise(interrupt_caught);
}
