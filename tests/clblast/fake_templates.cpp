/* fake_templates.cpp: of the fake CLBlast, functions in C that call those in C++ by name, as
 * CLBlast's own do. The program may have another of that name, which the call then reaches. That of
 * double is not here. */
#include "kiln_clblast.h"

#define EXPORT __attribute__((visibility("default")))

extern "C" EXPORT int fake_calls;

namespace clblast {

enum class StatusCode : int;
enum class Layout : int;
enum class Transpose : int;
enum class Triangle : int;

template <typename T>
StatusCode Syrk(const Layout layout, const Triangle triangle, const Transpose a_transpose,
        const size_t n, const size_t k, const T alpha, const cl_mem a, const size_t a_offset,
        const size_t a_ld, const T beta, cl_mem c, const size_t c_offset, const size_t c_ld,
        cl_command_queue *queue, cl_event *event);

template <>
EXPORT StatusCode Syrk<float>(const Layout, const Triangle, const Transpose, const size_t n,
        const size_t k, const float, const cl_mem, const size_t, const size_t, const float, cl_mem,
        const size_t, const size_t, cl_command_queue *, cl_event *)
{
    fake_calls++;
    return StatusCode(2000000 + n * 100 + k);
}

} // namespace clblast

#define SYRK(Name, scalar) \
    extern "C" EXPORT int Name(int layout, int triangle, int a_transpose, size_t n, size_t k, \
            scalar alpha, cl_mem a, size_t a_offset, size_t a_ld, scalar beta, cl_mem c, \
            size_t c_offset, size_t c_ld, cl_command_queue *queue, cl_event *event) \
    { \
        using namespace clblast; \
        return int(Syrk<scalar>(Layout(layout), Triangle(triangle), Transpose(a_transpose), n, k, \
                alpha, a, a_offset, a_ld, beta, c, c_offset, c_ld, queue, event)); \
    }

SYRK(CLBlastSsyrk, float)
SYRK(CLBlastDsyrk, double)
