// program.cpp: a program for CLBlast, as test_program.sh links it with libkiln-clblast.
#include <clblast.h>

#include <complex>
#include <cstdio>
#include <vector>

template <typename T>
static bool multiplies(cl_context context, cl_command_queue queue)
{
    const std::vector<T> a = {1, 2, 3, 4}, b = {5, 6, 7, 8}, product = {19, 22, 43, 50};
    std::vector<T> c(4, T(1));
    const T *const contents[] = {a.data(), b.data(), c.data()};
    cl_mem buffers[3];
    for (int i = 0; i < 3; i++)
        buffers[i] = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                4 * sizeof(T), const_cast<T *>(contents[i]), nullptr);
    cl_event event = nullptr;
    const auto status = clblast::Gemm<T>(clblast::Layout::kRowMajor, clblast::Transpose::kNo,
            clblast::Transpose::kNo, 2, 2, 2, T(1), buffers[0], 0, 2, buffers[1], 0, 2, T(0),
            buffers[2], 0, 2, &queue, &event);
    if (status != clblast::StatusCode::kSuccess) {
        std::printf("status %d\n", static_cast<int>(status));
        return false;
    }
    clEnqueueReadBuffer(queue, buffers[2], CL_TRUE, 0, 4 * sizeof(T), c.data(), 1, &event, nullptr);
    clReleaseEvent(event);
    for (auto buffer : buffers)
        clReleaseMemObject(buffer);
    return c == product;
}

int main()
{
    cl_platform_id platform;
    cl_device_id device;
    if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
            clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS)
        return 77;
    const cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
    const cl_command_queue queue = clCreateCommandQueue(context, device, 0, nullptr);
    const bool is_right = multiplies<float>(context, queue) && multiplies<double>(context, queue) &&
                          multiplies<std::complex<float>>(context, queue) &&
                          multiplies<std::complex<double>>(context, queue) &&
                          clblast::FillCache(device) == clblast::StatusCode::kSuccess &&
                          clblast::ClearCache() == clblast::StatusCode::kSuccess &&
                          multiplies<float>(context, queue);
    std::puts(is_right ? "right" : "wrong");
    return is_right ? 0 : 1;
}
