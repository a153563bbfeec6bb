/* sort.h: what qsort compares by. */
#ifndef KILN_CORE_SORT_H
#define KILN_CORE_SORT_H

/* Doubles, in ascending order. */
static inline int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

#endif
