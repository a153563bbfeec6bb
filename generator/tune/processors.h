/* processors.h: those that this process may use, and PoCL's threads bound to them. */
#ifndef KILN_TUNE_PROCESSORS_H
#define KILN_TUNE_PROCESSORS_H

/* Lets PoCL bind its threads to one processor each, unless the user says otherwise (POCL_AFFINITY).
 * Where they are not bound, two often share one for a while, and what takes a millisecond takes
 * two. PoCL counts processors from 0, whichever the process may use; so this is done only where it
 * may use all. Call it before any function of OpenCL. */
void processors_bind_pocl(void);

/* How many processors this process may use. */
long processors_usable(void);

#endif
