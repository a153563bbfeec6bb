/* opencl.h: what kernels for NVIDIA's devices use of OpenCL C, for which Clang's header has no
 * body. It is included ahead of a kernel's text. */
#define HERE __attribute__((overloadable, always_inline))

#define LEAST_AND_MOST(T) \
    T HERE min(T a, T b) { return a < b ? a : b; } \
    T HERE max(T a, T b) { return a > b ? a : b; } \
    T HERE clamp(T x, T a, T b) { return min(max(x, a), b); }
LEAST_AND_MOST(int)
LEAST_AND_MOST(uint)
LEAST_AND_MOST(long)
LEAST_AND_MOST(ulong)

void warp_inline(__constant const char *ptx);
void warp_group_multiply(float *c, uint a, uint b, uint columns, uint adds, uint a_is_across,
        uint b_is_across, ulong high_a, ulong high_b);
void warp_group_multiply_registers(float *c, const uint *a, uint b, uint columns, uint adds,
        uint b_is_across, ulong high_b);
float warp_half_to_float(ushort bits);
ushort warp_half_from_float(float value);
int warp_exponent(float value);
float warp_root(float value);

float HERE fabs(float x)
{
    return as_float(as_uint(x) & 0x7fffffff);
}
float HERE fmax(float a, float b)
{
    return a > b ? a : b;
}
float HERE sqrt(float x)
{
    return warp_root(x);
}
int HERE ilogb(float x)
{
    return warp_exponent(x);
}

#define HALF(SPACE) \
    float HERE vload_half(size_t i, SPACE const half *p) \
    { \
        return warp_half_to_float(((SPACE const ushort *) p)[i]); \
    } \
    void HERE vstore_half(float x, size_t i, SPACE half *p) \
    { \
        ((SPACE ushort *) p)[i] = warp_half_from_float(x); \
    }
#define HALF_VECTOR(N, SPACE) \
    float##N HERE vload_half##N(size_t i, SPACE const half *p) \
    { \
        float##N v; \
        for (int x = 0; x < N; x++) \
            ((__private float *) &v)[x] = vload_half(i * N + x, p); \
        return v; \
    } \
    void HERE vstore_half##N(float##N v, size_t i, SPACE half *p) \
    { \
        for (int x = 0; x < N; x++) \
            vstore_half(((__private const float *) &v)[x], i * N + x, p); \
    }
#define HALVES(SPACE) \
    HALF(SPACE) HALF_VECTOR(2, SPACE) HALF_VECTOR(4, SPACE) HALF_VECTOR(8, SPACE) \
    HALF_VECTOR(16, SPACE)
HALVES(__global)
HALVES(__local)
HALVES(__private)

#define VECTOR(T, N, SPACE) \
    T##N HERE vload##N(size_t i, SPACE const T *p) \
    { \
        T##N v; \
        for (int x = 0; x < N; x++) \
            ((__private T *) &v)[x] = p[i * N + x]; \
        return v; \
    } \
    void HERE vstore##N(T##N v, size_t i, SPACE T *p) \
    { \
        for (int x = 0; x < N; x++) \
            p[i * N + x] = ((__private const T *) &v)[x]; \
    }
#define VECTORS(T, SPACE) \
    VECTOR(T, 2, SPACE) VECTOR(T, 4, SPACE) VECTOR(T, 8, SPACE) VECTOR(T, 16, SPACE)
VECTORS(uint, __private)
VECTORS(float, __private)
VECTORS(float, __global)
VECTORS(float, __local)
VECTORS(double, __private)
VECTORS(double, __global)
VECTORS(double, __local)

/* Local memory is seen by others: Clang must not take a variable for this work-item's own. */
#define __local __attribute__((used)) __local
