/* image.c: the workspace as an image, for kernels that read it as one. None that ships does; of the
 * literature's, `blockmajor` does. */
#include "launch.h"

#include <stdlib.h>

/* Made for the call: the workspace may be the caller's, or another one by the next call. */
enum kiln_status kiln_image_make(struct launch *launch, const struct kiln_plan *plan,
        cl_mem workspace)
{
    const cl_image_format format = { CL_RGBA, CL_UNSIGNED_INT32 };
    const cl_image_desc shape = {
        .image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER,
        .image_width = plan->pixels,
        .buffer = workspace,
    };
    cl_int error = CL_SUCCESS;
    if (shape.image_width == 0) {
        return KILN_SUCCESS;
    }
    launch->image = (struct kiln_image *) calloc(1, sizeof *launch->image);
    if (launch->image == NULL) {
        return KILN_OUT_OF_MEMORY;
    }
    launch->image->image = clCreateImage(launch->context->context, CL_MEM_READ_ONLY, &format,
            &shape, NULL, &error);
    if (launch->image->image == NULL) {
        free(launch->image);
        launch->image = NULL;
        return (enum kiln_status)(error != CL_SUCCESS ? error : CL_MEM_OBJECT_ALLOCATION_FAILURE);
    }
    return KILN_SUCCESS;
}

void kiln_images_free(struct kiln_image *images)
{
    while (images != NULL) {
        struct kiln_image *next = images->next;
        clReleaseMemObject(images->image);
        free(images);
        images = next;
    }
}

static void CL_CALLBACK release_image(cl_event event, cl_int status, void *image)
{
    (void) event;
    (void) status;
    kiln_images_free((struct kiln_image *) image);
}

/* PoCL 3.1 crashes when an image is released before the kernels that read it are done, although
 * OpenCL lets it. An image whose last use no event tells is released with the context. */
void kiln_image_drop(struct launch *launch)
{
    struct kiln_context *context = launch->context;
    struct kiln_image *image = launch->image;
    launch->image = NULL;
    if (image == NULL) {
        return;
    }
    if (launch->last == NULL) {
        kiln_images_free((struct kiln_image *) image);
    } else if (clSetEventCallback(launch->last, CL_COMPLETE, release_image, image) != CL_SUCCESS) {
        pthread_mutex_lock(&context->workspaces_lock);
        image->next = context->images;
        context->images = image;
        pthread_mutex_unlock(&context->workspaces_lock);
    }
}
