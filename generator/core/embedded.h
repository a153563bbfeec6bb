/* embedded.h: a bundle.c with device binaries, which nobody can emit again without the device. */
#ifndef KILN_CORE_EMBEDDED_H
#define KILN_CORE_EMBEDDED_H

#include "assemble.h"

/* Whether the C of a bundle holds device binaries. */
bool embedded_is_there(const char *source);

/* Whether this is what emit_bundle writes of the assembly, but for the binaries: each is of the
 * program that has it, and a program without text has one. The assembly loses the text of programs
 * that have none there. False too when out of memory. */
bool embedded_is_emitted(const char *source, struct assembly *assembly, const char *comment);

#endif
