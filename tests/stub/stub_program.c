/* stub_program.c: the fake driver's programs and kernels.
 *
 * A program is its text; its "binary" is the text behind a magic word. Behind another word it is
 * taken, with a program, and yet said to be invalid. What is said to be NVIDIA's device also takes
 * a "cubin", the text behind the header of an ELF file. A device without a compiler builds binaries
 * alone. A kernel exists where the text has `NAME(`, and the parameters after it say how many
 * arguments it has and how large they are, so that a wrong index or size is refused as a real
 * driver would.
 */
#include "stub_internal.h"

#include <ctype.h>
#include <string.h>

static const char binary_magic[] = "STUBBIN:";
static const char doubtful_magic[] = "STUBODD:";
enum { MAGIC_BYTES = sizeof binary_magic - 1 };

enum { ELF_HEADER_BYTES = 64 };

/* The bytes before the text of a binary that the device takes; 0: it takes none such. */
static size_t magic_of(cl_device_id device, const unsigned char *binary, size_t length)
{
    if (length >= MAGIC_BYTES && (memcmp(binary, binary_magic, MAGIC_BYTES) == 0 ||
                                         memcmp(binary, doubtful_magic, MAGIC_BYTES) == 0)) {
        return MAGIC_BYTES;
    }
    bool is_elf = length >= ELF_HEADER_BYTES && memcmp(binary, "\177ELF", 4) == 0;
    return is_elf && device->facts.nv_major != 0 ? ELF_HEADER_BYTES : 0;
}

static cl_program new_program(cl_context context, size_t length, bool binary)
{
    cl_program program = stub_new_locked(STUB_PROGRAM, sizeof *program);
    program->context = context;
    program->num_devices = context->num_devices;
    program->devices = context->devices;
    program->text = stub_alloc(length + 1);
    program->length = length;
    program->binary = binary;
    program->status = CL_BUILD_NONE;
    return program;
}

static size_t piece_length(const char **strings, const size_t *lengths, cl_uint index)
{
    return lengths != NULL && lengths[index] != 0 ? lengths[index] : strlen(strings[index]);
}

cl_program CL_API_CALL clCreateProgramWithSource(cl_context context, cl_uint count,
        const char **strings, const size_t *lengths, cl_int *error_ret)
{
    cl_int error = stub_enter(STUB_clCreateProgramWithSource);
    if (error == CL_SUCCESS && !stub_valid(context, STUB_CONTEXT)) {
        error = CL_INVALID_CONTEXT;
    } else if (error == CL_SUCCESS && (count == 0 || strings == NULL)) {
        error = CL_INVALID_VALUE;
    }
    stub_set_error(error_ret, error);
    if (error != CL_SUCCESS) {
        return NULL;
    }
    size_t total = 0;
    for (cl_uint i = 0; i < count; i++) {
        total += piece_length(strings, lengths, i);
    }
    pthread_mutex_lock(&stub_mutex);
    cl_program program = new_program(context, total, false);
    size_t at = 0;
    for (cl_uint i = 0; i < count; i++) {
        size_t length = piece_length(strings, lengths, i);
        memcpy(program->text + at, strings[i], length);
        at += length;
    }
    pthread_mutex_unlock(&stub_mutex);
    return program;
}

cl_program CL_API_CALL clCreateProgramWithBinary(cl_context context, cl_uint num_devices,
        const cl_device_id *devices, const size_t *lengths, const unsigned char **binaries,
        cl_int *statuses, cl_int *error_ret)
{
    cl_int error = stub_enter(STUB_clCreateProgramWithBinary);
    if (error == CL_SUCCESS && !stub_valid(context, STUB_CONTEXT)) {
        error = CL_INVALID_CONTEXT;
    } else if (error == CL_SUCCESS &&
               (num_devices != 1 || devices == NULL || lengths == NULL || binaries == NULL ||
                       binaries[0] == NULL || lengths[0] == 0)) {
        error = CL_INVALID_VALUE;
    } else if (error == CL_SUCCESS && magic_of(devices[0], binaries[0], lengths[0]) == 0) {
        error = CL_INVALID_BINARY;
    }
    stub_set_error(statuses, error);
    stub_set_error(error_ret, error);
    if (error != CL_SUCCESS) {
        return NULL;
    }
    if (memcmp(binaries[0], doubtful_magic, MAGIC_BYTES) == 0) {
        stub_set_error(statuses, CL_INVALID_BINARY);
    }
    pthread_mutex_lock(&stub_mutex);
    const size_t magic = magic_of(devices[0], binaries[0], lengths[0]);
    cl_program program = new_program(context, lengths[0] - magic, true);
    cl_device_id *device = stub_alloc(sizeof *device);
    *device = devices[0];
    program->devices = device;
    program->num_devices = 1;
    memcpy(program->text, binaries[0] + magic, program->length);
    pthread_mutex_unlock(&stub_mutex);
    return program;
}

cl_int CL_API_CALL clRetainProgram(cl_program program)
{
    return stub_retain(STUB_clRetainProgram, program, STUB_PROGRAM, CL_INVALID_PROGRAM);
}

cl_int CL_API_CALL clReleaseProgram(cl_program program)
{
    return stub_release(STUB_clReleaseProgram, program, STUB_PROGRAM, CL_INVALID_PROGRAM);
}

cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint num_devices,
        const cl_device_id *devices, const char *options,
        void(CL_CALLBACK *notify)(cl_program, void *), void *user)
{
    (void) options;
    cl_int error = stub_enter(STUB_clBuildProgram);
    if (error == CL_SUCCESS && !stub_valid(program, STUB_PROGRAM)) {
        error = CL_INVALID_PROGRAM;
    } else if (error == CL_SUCCESS &&
               (num_devices > 1 || (num_devices == 0) != (devices == NULL))) {
        error = CL_INVALID_VALUE;
    } else if (error == CL_SUCCESS && !program->binary &&
               !(num_devices == 1 ? devices : program->devices)[0]->facts.compiler_available) {
        error = CL_COMPILER_NOT_AVAILABLE;
    }
    if (error != CL_SUCCESS) {
        return error;
    }
    pthread_mutex_lock(&stub_mutex);
    program->built_for = num_devices == 1 ? devices[0] : program->devices[0];
    program->built = !stub_build_fails(program->text, &error);
    program->status = program->built ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
    pthread_mutex_unlock(&stub_mutex);
    if (notify != NULL) {
        notify(program, user);
    }
    return error;
}

static const char *head_of(cl_program program, cl_uint device)
{
    const char *head = program->devices[device]->facts.binary_head;
    return head != NULL && !program->binary ? head : "";
}

static size_t binary_size(cl_program program, cl_uint device)
{
    bool has_one = program->built && program->devices[device] == program->built_for;
    return has_one ? MAGIC_BYTES + strlen(head_of(program, device)) + program->length : 0;
}

static cl_int put_binary_sizes(cl_program program, size_t capacity, void *out, size_t *bytes)
{
    size_t sizes[16] = { 0 };
    for (cl_uint i = 0; i < program->num_devices && i < 16; i++) {
        sizes[i] = binary_size(program, i);
    }
    return stub_put(sizes, program->num_devices * sizeof *sizes, capacity, out, bytes);
}

static cl_int put_binaries(cl_program program, size_t capacity, void *out, size_t *bytes)
{
    size_t needed = program->num_devices * sizeof(unsigned char *);
    if (bytes != NULL) {
        *bytes = needed;
    }
    if (out == NULL) {
        return CL_SUCCESS;
    }
    if (capacity < needed) {
        return CL_INVALID_VALUE;
    }
    unsigned char **binaries = out;
    for (cl_uint i = 0; i < program->num_devices; i++) {
        if (binaries[i] != NULL && binary_size(program, i) > 0) {
            const char *head = head_of(program, i);
            const size_t length = strlen(head);
            memcpy(binaries[i], binary_magic, MAGIC_BYTES);
            memcpy(binaries[i] + MAGIC_BYTES, head, length);
            memcpy(binaries[i] + MAGIC_BYTES + length, program->text, program->length);
        }
    }
    return CL_SUCCESS;
}

cl_int CL_API_CALL clGetProgramInfo(cl_program program, cl_program_info name, size_t capacity,
        void *out, size_t *bytes)
{
    cl_int error = stub_enter(STUB_clGetProgramInfo);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (!stub_valid(program, STUB_PROGRAM)) {
        return CL_INVALID_PROGRAM;
    }
    switch (name) {
    case CL_PROGRAM_CONTEXT:
        return stub_put(&program->context, sizeof program->context, capacity, out, bytes);
    case CL_PROGRAM_NUM_DEVICES:
        return stub_put(&program->num_devices, sizeof program->num_devices, capacity, out, bytes);
    case CL_PROGRAM_DEVICES:
        return stub_put(program->devices, program->num_devices * sizeof *program->devices, capacity,
                out, bytes);
    case CL_PROGRAM_SOURCE:
        return stub_put_text(program->binary ? "" : program->text, capacity, out, bytes);
    case CL_PROGRAM_BINARY_SIZES: return put_binary_sizes(program, capacity, out, bytes);
    case CL_PROGRAM_BINARIES: return put_binaries(program, capacity, out, bytes);
    default: return CL_INVALID_VALUE;
    }
}

cl_int CL_API_CALL clGetProgramBuildInfo(cl_program program, cl_device_id device,
        cl_program_build_info name, size_t capacity, void *out, size_t *bytes)
{
    cl_int error = stub_enter(STUB_clGetProgramBuildInfo);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (!stub_valid(program, STUB_PROGRAM) || !stub_valid(device, STUB_DEVICE)) {
        return CL_INVALID_VALUE;
    }
    switch (name) {
    case CL_PROGRAM_BUILD_STATUS:
        return stub_put(&program->status, sizeof program->status, capacity, out, bytes);
    case CL_PROGRAM_BUILD_LOG:
        return stub_put_text(
                program->status == CL_BUILD_ERROR ? "stub: refused as planned\n\n" : "", capacity,
                out, bytes);
    case CL_PROGRAM_BUILD_OPTIONS: return stub_put_text("", capacity, out, bytes);
    default: return CL_INVALID_VALUE;
    }
}

/* The text after `NAME(`, or NULL where the program has no such kernel. */
static const char *find_parameters(const char *text, const char *entry)
{
    size_t length = strlen(entry);
    for (const char *at = strstr(text, entry); at != NULL; at = strstr(at + 1, entry)) {
        bool starts = at > text && !isalnum((unsigned char) at[-1]) && at[-1] != '_';
        if (starts && at[length] == '(') {
            return at + length + 1;
        }
    }
    return NULL;
}

static bool contains(const char *from, size_t length, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= length; i++) {
        if (memcmp(from + i, word, n) == 0) {
            return true;
        }
    }
    return false;
}

static size_t parameter_size(const char *from, size_t length)
{
    if (contains(from, length, "*")) {
        return sizeof(cl_mem);
    }
    if (contains(from, length, "long ") || contains(from, length, "double ")) {
        return 8;
    }
    if (contains(from, length, "int ") || contains(from, length, "float ")) {
        return 4;
    }
    return 0;
}

static void parse_parameters(cl_kernel kernel, const char *from)
{
    while (kernel->num_args < STUB_MAX_ARGS) {
        size_t length = strcspn(from, ",)");
        kernel->arg_is_mem[kernel->num_args] = memchr(from, '*', length) != NULL;
        kernel->arg_size[kernel->num_args++] = parameter_size(from, length);
        if (from[length] != ',') {
            return;
        }
        from += length + 1;
    }
}

cl_kernel CL_API_CALL clCreateKernel(cl_program program, const char *entry, cl_int *error_ret)
{
    cl_int error = stub_enter(STUB_clCreateKernel);
    const char *parameters = NULL;
    if (error == CL_SUCCESS && !stub_valid(program, STUB_PROGRAM)) {
        error = CL_INVALID_PROGRAM;
    } else if (error == CL_SUCCESS && !program->built) {
        error = CL_INVALID_PROGRAM_EXECUTABLE;
    } else if (error == CL_SUCCESS && entry == NULL) {
        error = CL_INVALID_VALUE;
    } else if (error == CL_SUCCESS) {
        parameters = find_parameters(program->text, entry);
        error = parameters != NULL ? CL_SUCCESS : CL_INVALID_KERNEL_NAME;
    }
    stub_set_error(error_ret, error);
    if (error != CL_SUCCESS) {
        return NULL;
    }
    pthread_mutex_lock(&stub_mutex);
    cl_kernel kernel = stub_new_locked(STUB_KERNEL, sizeof *kernel);
    kernel->program = program;
    kernel->entry = stub_copy_text(entry, strlen(entry));
    parse_parameters(kernel, parameters);
    pthread_mutex_unlock(&stub_mutex);
    return kernel;
}

cl_int CL_API_CALL clRetainKernel(cl_kernel kernel)
{
    return stub_retain(STUB_clRetainKernel, kernel, STUB_KERNEL, CL_INVALID_KERNEL);
}

cl_int CL_API_CALL clReleaseKernel(cl_kernel kernel)
{
    return stub_release(STUB_clReleaseKernel, kernel, STUB_KERNEL, CL_INVALID_KERNEL);
}

static void note_setter(cl_kernel kernel)
{
    unsigned long self = stub_thread_number();
    unsigned long setter = 0;
    bool first = atomic_compare_exchange_strong_explicit(&kernel->setter, &setter, self,
            memory_order_relaxed, memory_order_relaxed);
    if (!first && setter != self) {
        stub_misuse("two threads set arguments of one kernel between launches");
    }
}

cl_int CL_API_CALL clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
    cl_int error = stub_enter(STUB_clSetKernelArg);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (!stub_valid(kernel, STUB_KERNEL)) {
        return CL_INVALID_KERNEL;
    }
    if (index >= kernel->num_args) {
        return CL_INVALID_ARG_INDEX;
    }
    size_t expected = kernel->arg_size[index];
    if (size == 0 || size > STUB_MAX_ARG_BYTES || (expected != 0 && size != expected)) {
        return CL_INVALID_ARG_SIZE;
    }
    if (value == NULL) {
        return CL_INVALID_ARG_VALUE;
    }
    note_setter(kernel);
    memcpy(kernel->args[index].bytes, value, size);
    kernel->args[index].size = size;
    stub_maybe_yield();
    return CL_SUCCESS;
}

cl_int CL_API_CALL clGetKernelInfo(cl_kernel kernel, cl_kernel_info name, size_t capacity,
        void *out, size_t *bytes)
{
    cl_int error = stub_enter(STUB_clGetKernelInfo);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (!stub_valid(kernel, STUB_KERNEL)) {
        return CL_INVALID_KERNEL;
    }
    cl_uint num_args = kernel->num_args;
    switch (name) {
    case CL_KERNEL_FUNCTION_NAME: return stub_put_text(kernel->entry, capacity, out, bytes);
    case CL_KERNEL_NUM_ARGS: return stub_put(&num_args, sizeof num_args, capacity, out, bytes);
    case CL_KERNEL_PROGRAM:
        return stub_put(&kernel->program, sizeof kernel->program, capacity, out, bytes);
    case CL_KERNEL_CONTEXT:
        return stub_put(&kernel->program->context, sizeof(cl_context), capacity, out, bytes);
    default: return CL_INVALID_VALUE;
    }
}

cl_int CL_API_CALL clGetKernelArgInfo(cl_kernel kernel, cl_uint index, cl_kernel_arg_info name,
        size_t capacity, void *out, size_t *bytes)
{
    cl_int error = stub_enter(STUB_clGetKernelArgInfo);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (!stub_valid(kernel, STUB_KERNEL)) {
        return CL_INVALID_KERNEL;
    }
    if (index >= kernel->num_args) {
        return CL_INVALID_ARG_INDEX;
    }
    if (name != CL_KERNEL_ARG_ADDRESS_QUALIFIER && name != CL_KERNEL_ARG_ACCESS_QUALIFIER) {
        return CL_INVALID_VALUE;
    }
    if (kernel->arg_size[index] == 0) {
        return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
    }
    if (name == CL_KERNEL_ARG_ACCESS_QUALIFIER) { /* images are declared as buffers here */
        cl_kernel_arg_access_qualifier access = CL_KERNEL_ARG_ACCESS_NONE;
        return kernel->arg_is_mem[index] ? CL_KERNEL_ARG_INFO_NOT_AVAILABLE
                                         : stub_put(&access, sizeof access, capacity, out, bytes);
    }
    cl_kernel_arg_address_qualifier space = kernel->arg_is_mem[index]
                                                  ? CL_KERNEL_ARG_ADDRESS_GLOBAL
                                                  : CL_KERNEL_ARG_ADDRESS_PRIVATE;
    return stub_put(&space, sizeof space, capacity, out, bytes);
}

cl_int CL_API_CALL clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
        cl_kernel_work_group_info name, size_t capacity, void *out, size_t *bytes)
{
    cl_int error = stub_enter(STUB_clGetKernelWorkGroupInfo);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (!stub_valid(kernel, STUB_KERNEL)) {
        return CL_INVALID_KERNEL;
    }
    if (!stub_valid(device, STUB_DEVICE)) {
        return CL_INVALID_DEVICE;
    }
    size_t limit = stub_kernel_limit(kernel, device);
    size_t compiled[3] = { 0, 0, 0 };
    size_t multiple = 1;
    cl_ulong bytes_used = 0;
    switch (name) {
    case CL_KERNEL_WORK_GROUP_SIZE: return stub_put(&limit, sizeof limit, capacity, out, bytes);
    case CL_KERNEL_COMPILE_WORK_GROUP_SIZE:
        return stub_put(compiled, sizeof compiled, capacity, out, bytes);
    case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
        return stub_put(&multiple, sizeof multiple, capacity, out, bytes);
    case CL_KERNEL_LOCAL_MEM_SIZE:
    case CL_KERNEL_PRIVATE_MEM_SIZE:
        return stub_put(&bytes_used, sizeof bytes_used, capacity, out, bytes);
    default: return CL_INVALID_VALUE;
    }
}
