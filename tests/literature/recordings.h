/* recordings.h: recordings made for the purpose, in the columns of CLBlast. */
#ifndef KILN_TESTS_LITERATURE_RECORDINGS_H
#define KILN_TESTS_LITERATURE_RECORDINGS_H

#include "text.h"

#include <math.h>

/* What one device prefers: the base-2 logarithms of its best values. */
struct taste {
    int mwg, mdimc, vwm;
};

static inline double recordings_time(const struct taste *taste, int m, int n, int x, int y, int v,
        int w)
{
    const double tile = (m - x) + (n - y) - 2.0 * (taste->mwg - taste->mdimc);
    const double groups = x + y - 2.0 * taste->mdimc;
    const double rows = m - taste->mwg, columns = n - taste->mwg, width = v - taste->vwm;
    return 5 + 0.6 * fabs(tile) + 0.5 * fabs(rows) + 0.4 * fabs(columns) + 0.8 * fabs(groups) +
           0.3 * fabs(width) + 0.2 * fabs(w - 1.0) +
           0.01 * ((m * 7 + n * 5 + x * 3 + y * 11 + v + w * 13) % 17);
}

/* Adds the legal rows of 1,296 points. */
static inline void recordings_add(struct text *text, const struct taste *taste)
{
    text_add(text, "MWG\tNWG\tMDIMC\tNDIMC\tVWM\tVWN\tsamples\tfirst_ms\tmin_ms\tmedian_ms\n");
    for (int i = 0; i < 4 * 4 * 3 * 3 * 3 * 3; i++) {
        const int m = 4 + i / 324, n = 4 + i / 81 % 4, x = 3 + i / 27 % 3, y = 3 + i / 9 % 3;
        const int v = i / 3 % 3, w = i % 3;
        const double time = recordings_time(taste, m, n, x, y, v, w);
        if (m >= x + v && n >= y + w)
            text_add(text, "%d\t%d\t%d\t%d\t%d\t%d\t32\t%.4f\t%.4f\t%.4f\n", 1 << m, 1 << n, 1 << x,
                    1 << y, 1 << v, 1 << w, 1.1 * time, 0.9 * time, time);
    }
}

#endif
