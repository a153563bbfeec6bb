/* openblas_child.h: the child's side of the OpenBLAS peers. */
#ifndef BENCH_OPENBLAS_CHILD_H
#define BENCH_OPENBLAS_CHILD_H

/* The hidden first argument that turns the program into the child. */
#define OPENBLAS_CHILD_OPTION "--openblas-child"

/* Serves requests from standard input until it ends; `threads` is a number. Returns the exit
 * status.
 *
 * One request a line; one line in answer, "ok ..." or "refused" or "failed":
 *   core                        ok CORE THREADS CONFIGURATION
 *   problem P TA TB M N K       ok           P: 16, 32, 64; TA, TB: 0, 1
 *   sample SECONDS              ok SECONDS   the mean time of one multiplication
 *   result                      ok BYTES     and that many bytes: C
 */
int openblas_child_run(const char *threads);

#endif
