/* point.h: a configuration as a point of its search space: one value index per parameter. */
#ifndef KILN_CORE_POINT_H
#define KILN_CORE_POINT_H

enum { POINT_MAX_PARAMS = 24 };

struct point {
    unsigned char at[POINT_MAX_PARAMS];
};

#endif
