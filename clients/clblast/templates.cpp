/* templates.cpp: the functions that programs in C++ call, as clblast.h declares them. Each is the
 * one of the same name in C. */
#include "kiln_clblast.h"

#include <complex>
#include <dlfcn.h>

namespace clblast {

enum class StatusCode : int;
enum class Layout : int;
enum class Transpose : int;
enum class Side : int;
enum class Triangle : int;

using half = cl_half;
using float2 = std::complex<float>;
using double2 = std::complex<double>;

/* A type of C++ as C has it, and C's functions for it. */
template <typename T> struct Of;
#define GEMM(X, precision, c_scalar) \
    template <> struct Of<X> { \
        using scalar = c_scalar; \
        static constexpr auto gemm = CLBlast##X##gemmWithTempBuffer; \
        static constexpr auto temp_buffer_size = CLBlast##X##GemmTempBufferSize; \
        static constexpr auto batched = CLBlast##X##gemmBatched; \
        static constexpr auto strided_batched = CLBlast##X##gemmStridedBatched; \
        static constexpr auto symm = CLBlast##X##symm; \
        static constexpr auto syrk = CLBlast##X##syrk; \
        HERMITIAN_##X \
    };
#define SYMM(Name, precision, scalar, hermitian)
#define SYRK SYMM
#define HERMITIAN_H
#define HERMITIAN_S static constexpr auto herk = CLBlastCherk; /* by the type of its scalars */
#define HERMITIAN_D static constexpr auto herk = CLBlastZherk;
#define HERMITIAN_C static constexpr auto hemm = CLBlastChemm;
#define HERMITIAN_Z static constexpr auto hemm = CLBlastZhemm;
using H = half;
using S = float;
using D = double;
using C = float2;
using Z = double2;
#include "routines.inc"

template <typename T> static T scalar(T value)
{
    return value;
}

static cl_float2 scalar(float2 value)
{
    return {{value.real(), value.imag()}};
}

static cl_double2 scalar(double2 value)
{
    return {{value.real(), value.imag()}};
}

template <typename T> static const typename Of<T>::scalar *scalars(const T *values)
{
    return reinterpret_cast<const typename Of<T>::scalar *>(values);
}

/* Stands for a function that CLBlast does not have. */
template <typename... Arguments> static StatusCode lacking(Arguments...)
{
    return StatusCode(KILN_CLBLAST_NOT_IMPLEMENTED);
}

template <typename... Arguments> using Function = StatusCode(Arguments...);

/* CLBlast's function of the same name, which its function in C has just called; or lacking. What
 * has no name of its own (dladdr then tells that of the symbol before it) has no counterpart. */
template <typename... Arguments>
static Function<Arguments...> *others(Function<Arguments...> *own)
{
    Dl_info info = {};
    kiln_clblast_is_passed_on = 0;
    const bool is_named = dladdr(reinterpret_cast<void *>(own), &info) != 0 &&
                          info.dli_sname != nullptr &&
                          info.dli_saddr == reinterpret_cast<void *>(own);
    const kiln_clblast_function other =
            is_named ? kiln_clblast_fallback(info.dli_sname, 1) : nullptr;
    return other != nullptr ? reinterpret_cast<Function<Arguments...> *>(other)
                            : lacking<Arguments...>;
}

#define EXPORT __attribute__((visibility("default")))
#define INT(x) static_cast<int>(x)

template <typename T>
EXPORT StatusCode Gemm(const Layout layout, const Transpose a_transpose,
        const Transpose b_transpose, const size_t m, const size_t n, const size_t k, const T alpha,
        const cl_mem a, const size_t a_offset, const size_t a_ld, const cl_mem b,
        const size_t b_offset, const size_t b_ld, const T beta, cl_mem c, const size_t c_offset,
        const size_t c_ld, cl_command_queue *queue, cl_event *event, cl_mem temp_buffer)
{
    if (kiln_clblast_is_passed_on) {
        return others(Gemm<T>)(layout, a_transpose, b_transpose, m, n, k, alpha, a, a_offset, a_ld,
                b, b_offset, b_ld, beta, c, c_offset, c_ld, queue, event, temp_buffer);
    }
    return StatusCode(Of<T>::gemm(INT(layout), INT(a_transpose), INT(b_transpose), m, n, k,
            scalar(alpha), a, a_offset, a_ld, b, b_offset, b_ld, scalar(beta), c, c_offset, c_ld,
            queue, event, temp_buffer));
}

template <typename T>
EXPORT StatusCode GemmTempBufferSize(const Layout layout, const Transpose a_transpose,
        const Transpose b_transpose, const size_t m, const size_t n, const size_t k,
        const size_t a_offset, const size_t a_ld, const size_t b_offset, const size_t b_ld,
        const size_t c_offset, const size_t c_ld, cl_command_queue *queue,
        size_t &temp_buffer_size)
{
    if (kiln_clblast_is_passed_on) {
        return others(GemmTempBufferSize<T>)(layout, a_transpose, b_transpose, m, n, k, a_offset,
                a_ld, b_offset, b_ld, c_offset, c_ld, queue, temp_buffer_size);
    }
    return StatusCode(Of<T>::temp_buffer_size(INT(layout), INT(a_transpose), INT(b_transpose), m,
            n, k, a_offset, a_ld, b_offset, b_ld, c_offset, c_ld, queue, &temp_buffer_size));
}

template <typename T>
EXPORT StatusCode GemmBatched(const Layout layout, const Transpose a_transpose,
        const Transpose b_transpose, const size_t m, const size_t n, const size_t k,
        const T *alphas, const cl_mem a, const size_t *a_offsets, const size_t a_ld,
        const cl_mem b, const size_t *b_offsets, const size_t b_ld, const T *betas, cl_mem c,
        const size_t *c_offsets, const size_t c_ld, const size_t batch_count,
        cl_command_queue *queue, cl_event *event)
{
    if (kiln_clblast_is_passed_on) {
        return others(GemmBatched<T>)(layout, a_transpose, b_transpose, m, n, k, alphas, a,
                a_offsets, a_ld, b, b_offsets, b_ld, betas, c, c_offsets, c_ld, batch_count, queue,
                event);
    }
    return StatusCode(Of<T>::batched(INT(layout), INT(a_transpose), INT(b_transpose), m, n, k,
            scalars(alphas), a, a_offsets, a_ld, b, b_offsets, b_ld, scalars(betas), c, c_offsets,
            c_ld, batch_count, queue, event));
}

template <typename T>
EXPORT StatusCode GemmStridedBatched(const Layout layout, const Transpose a_transpose,
        const Transpose b_transpose, const size_t m, const size_t n, const size_t k, const T alpha,
        const cl_mem a, const size_t a_offset, const size_t a_ld, const size_t a_stride,
        const cl_mem b, const size_t b_offset, const size_t b_ld, const size_t b_stride,
        const T beta, cl_mem c, const size_t c_offset, const size_t c_ld, const size_t c_stride,
        const size_t batch_count, cl_command_queue *queue, cl_event *event)
{
    if (kiln_clblast_is_passed_on) {
        return others(GemmStridedBatched<T>)(layout, a_transpose, b_transpose, m, n, k, alpha, a,
                a_offset, a_ld, a_stride, b, b_offset, b_ld, b_stride, beta, c, c_offset, c_ld,
                c_stride, batch_count, queue, event);
    }
    return StatusCode(Of<T>::strided_batched(INT(layout), INT(a_transpose), INT(b_transpose), m, n,
            k, scalar(alpha), a, a_offset, a_ld, a_stride, b, b_offset, b_ld, b_stride,
            scalar(beta), c, c_offset, c_ld, c_stride, batch_count, queue, event));
}

template <typename T>
EXPORT StatusCode Symm(const Layout layout, const Side side, const Triangle triangle,
        const size_t m, const size_t n, const T alpha, const cl_mem a, const size_t a_offset,
        const size_t a_ld, const cl_mem b, const size_t b_offset, const size_t b_ld, const T beta,
        cl_mem c, const size_t c_offset, const size_t c_ld, cl_command_queue *queue,
        cl_event *event)
{
    if (kiln_clblast_is_passed_on) {
        return others(Symm<T>)(layout, side, triangle, m, n, alpha, a, a_offset, a_ld, b, b_offset,
                b_ld, beta, c, c_offset, c_ld, queue, event);
    }
    return StatusCode(Of<T>::symm(INT(layout), INT(side), INT(triangle), m, n, scalar(alpha), a,
            a_offset, a_ld, b, b_offset, b_ld, scalar(beta), c, c_offset, c_ld, queue, event));
}

template <typename T>
EXPORT StatusCode Hemm(const Layout layout, const Side side, const Triangle triangle,
        const size_t m, const size_t n, const T alpha, const cl_mem a, const size_t a_offset,
        const size_t a_ld, const cl_mem b, const size_t b_offset, const size_t b_ld, const T beta,
        cl_mem c, const size_t c_offset, const size_t c_ld, cl_command_queue *queue,
        cl_event *event)
{
    if (kiln_clblast_is_passed_on) {
        return others(Hemm<T>)(layout, side, triangle, m, n, alpha, a, a_offset, a_ld, b, b_offset,
                b_ld, beta, c, c_offset, c_ld, queue, event);
    }
    return StatusCode(Of<T>::hemm(INT(layout), INT(side), INT(triangle), m, n, scalar(alpha), a,
            a_offset, a_ld, b, b_offset, b_ld, scalar(beta), c, c_offset, c_ld, queue, event));
}

template <typename T>
EXPORT StatusCode Syrk(const Layout layout, const Triangle triangle, const Transpose a_transpose,
        const size_t n, const size_t k, const T alpha, const cl_mem a, const size_t a_offset,
        const size_t a_ld, const T beta, cl_mem c, const size_t c_offset, const size_t c_ld,
        cl_command_queue *queue, cl_event *event)
{
    if (kiln_clblast_is_passed_on) {
        return others(Syrk<T>)(layout, triangle, a_transpose, n, k, alpha, a, a_offset, a_ld, beta,
                c, c_offset, c_ld, queue, event);
    }
    return StatusCode(Of<T>::syrk(INT(layout), INT(triangle), INT(a_transpose), n, k,
            scalar(alpha), a, a_offset, a_ld, scalar(beta), c, c_offset, c_ld, queue, event));
}

template <typename T>
EXPORT StatusCode Herk(const Layout layout, const Triangle triangle, const Transpose a_transpose,
        const size_t n, const size_t k, const T alpha, const cl_mem a, const size_t a_offset,
        const size_t a_ld, const T beta, cl_mem c, const size_t c_offset, const size_t c_ld,
        cl_command_queue *queue, cl_event *event)
{
    if (kiln_clblast_is_passed_on) {
        return others(Herk<T>)(layout, triangle, a_transpose, n, k, alpha, a, a_offset, a_ld, beta,
                c, c_offset, c_ld, queue, event);
    }
    return StatusCode(Of<T>::herk(INT(layout), INT(triangle), INT(a_transpose), n, k, alpha, a,
            a_offset, a_ld, beta, c, c_offset, c_ld, queue, event));
}

#define EACH(T) \
    template decltype(Gemm<T>) Gemm<T>; \
    template decltype(GemmTempBufferSize<T>) GemmTempBufferSize<T>; \
    template decltype(GemmBatched<T>) GemmBatched<T>; \
    template decltype(GemmStridedBatched<T>) GemmStridedBatched<T>; \
    template decltype(Symm<T>) Symm<T>; \
    template decltype(Syrk<T>) Syrk<T>;
EACH(half)
EACH(float)
EACH(double)
EACH(float2)
EACH(double2)
template decltype(Hemm<float2>) Hemm<float2>;
template decltype(Hemm<double2>) Hemm<double2>;
template decltype(Herk<float>) Herk<float>;
template decltype(Herk<double>) Herk<double>;

EXPORT StatusCode ClearCache();
EXPORT StatusCode ClearCache()
{
    if (kiln_clblast_is_passed_on) {
        return others(ClearCache)();
    }
    return StatusCode(CLBlastClearCache());
}

EXPORT StatusCode FillCache(const cl_device_id device);
EXPORT StatusCode FillCache(const cl_device_id device)
{
    return StatusCode(CLBlastFillCache(device));
}

} // namespace clblast
