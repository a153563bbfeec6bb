/* table.h: what a family's table needs. */
#ifndef KILN_KERNELS_TABLE_H
#define KILN_KERNELS_TABLE_H

#include "../core/family.h"

/* .params = params, .num_params = its length, and so on for each table of struct family. */
#define TABLE(rows) .rows = rows, .num_##rows = sizeof rows / sizeof rows[0]

/* Rules that several families share. */
#define RULE_DOUBLE { "PRECISION != 64 || HAS_DOUBLE", "the device has no double precision" }

#endif
