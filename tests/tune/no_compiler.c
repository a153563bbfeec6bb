/* no_compiler: preloaded, it makes any OpenCL driver one without a compiler: devices say that they
 * have none, and what is made from source is not built. Binaries go to the driver. */
#define _GNU_SOURCE
#include <CL/cl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

enum { MAX_SOURCES = 4096 };

static cl_program sources[MAX_SOURCES];
static size_t num_sources;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The driver's own function, into a pointer of whatever type it has. */
static void find(const char *name, void *function)
{
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

static cl_bool is_source(cl_program program)
{
    cl_bool found = CL_FALSE;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < num_sources; i++)
        found = found || sources[i] == program;
    pthread_mutex_unlock(&lock);
    return found;
}

cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size,
        void *value, size_t *needed)
{
    cl_int (*next)(cl_device_id, cl_device_info, size_t, void *, size_t *);
    find("clGetDeviceInfo", &next);
    const cl_int error = next(device, what, size, value, needed);
    if (error == CL_SUCCESS && value &&
            (what == CL_DEVICE_COMPILER_AVAILABLE || what == CL_DEVICE_LINKER_AVAILABLE))
        memset(value, 0, sizeof(cl_bool));
    return error;
}

cl_program CL_API_CALL clCreateProgramWithSource(cl_context context, cl_uint count,
        const char **strings, const size_t *lengths, cl_int *error)
{
    cl_program (*next)(cl_context, cl_uint, const char **, const size_t *, cl_int *);
    find("clCreateProgramWithSource", &next);
    cl_program program = next(context, count, strings, lengths, error);
    pthread_mutex_lock(&lock);
    if (program && num_sources < MAX_SOURCES)
        sources[num_sources++] = program;
    pthread_mutex_unlock(&lock);
    return program;
}

/* Its handle may be the next program's. */
cl_program CL_API_CALL clCreateProgramWithBinary(cl_context context, cl_uint num,
        const cl_device_id *devices, const size_t *lengths, const unsigned char **binaries,
        cl_int *status, cl_int *error)
{
    cl_program (*next)(cl_context, cl_uint, const cl_device_id *, const size_t *,
            const unsigned char **, cl_int *, cl_int *);
    find("clCreateProgramWithBinary", &next);
    cl_program program = next(context, num, devices, lengths, binaries, status, error);
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < num_sources; i++)
        sources[i] = sources[i] == program ? NULL : sources[i];
    pthread_mutex_unlock(&lock);
    return program;
}

cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint num, const cl_device_id *devices,
        const char *options, void(CL_CALLBACK *notify)(cl_program, void *), void *user)
{
    cl_int (*next)(cl_program, cl_uint, const cl_device_id *, const char *,
            void(CL_CALLBACK *)(cl_program, void *), void *);
    find("clBuildProgram", &next);
    return is_source(program) ? CL_COMPILER_NOT_AVAILABLE
                              : next(program, num, devices, options, notify, user);
}

cl_int CL_API_CALL clCompileProgram(cl_program program, cl_uint num, const cl_device_id *devices,
        const char *options, cl_uint num_headers, const cl_program *headers, const char **names,
        void(CL_CALLBACK *notify)(cl_program, void *), void *user)
{
    (void) program, (void) num, (void) devices, (void) options, (void) num_headers;
    (void) headers, (void) names, (void) notify, (void) user;
    return CL_COMPILER_NOT_AVAILABLE;
}
