/* log.c: messages for the application's log callback. */
#include "internal.h"

#include <stdarg.h>

void kiln_log(const struct kiln_context *context, ...)
{
    char message[512];
    struct kiln_text text;
    va_list strings;
    if (context->log == NULL) {
        return;
    }
    kiln_text_begin(&text, message, sizeof message);
    va_start(strings, context);
    for (const char *s = va_arg(strings, const char *); s != NULL;
            s = va_arg(strings, const char *)) {
        kiln_text_add(&text, s);
    }
    va_end(strings);
    context->log(context->log_user, message);
}
