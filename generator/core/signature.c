/* signature.c: see signature.h. */
#include "signature.h"
#include "fields.h"

#include <string.h>

const char *const signature_arg_names[KILN_NUM_ARG_CODES] = {
    "M", "N", "K", "ALPHA", "BETA", "A", "A_OFFSET", "A_STRIDE", "LDA",
    "B", "B_OFFSET", "B_STRIDE", "LDB", "C", "C_OFFSET", "C_STRIDE", "LDC",
    "WORKSPACE", "WORKSPACE_IMAGE", "REGION_0", "REGION_1", "REGION_2", "REGION_3",
    "PACKED_A", "PACKED_A_AT", "PACKED_A_STRIDE", "PACKED_LDA",
    "PACKED_B", "PACKED_B_AT", "PACKED_B_STRIDE", "PACKED_LDB",
    "ALPHA_IMAG", "BETA_IMAG", "CONJ_A", "CONJ_B", "TRIANGLE",
    "HERMITIAN", "RSA", "CSA", "RSB", "CSB", "PARTS",
};

/* How a kernel's text sees them, unless a list says otherwise. The workspace and its regions have
 * no default: a list names them for what lies there. */
static const char *const declarations[KILN_NUM_ARG_CODES] = {
    [KILN_ARG_M] = "${I} M", [KILN_ARG_N] = "${I} N", [KILN_ARG_K] = "${I} K",
    [KILN_ARG_ALPHA] = "${R} alpha", [KILN_ARG_BETA] = "${R} beta",
    [KILN_ARG_A] = "__global const ${T} *restrict A",
    [KILN_ARG_A_OFFSET] = "${I} a_offset", [KILN_ARG_A_STRIDE] = "${I} a_stride",
    [KILN_ARG_LDA] = "${I} lda",
    [KILN_ARG_B] = "__global const ${T} *restrict B",
    [KILN_ARG_B_OFFSET] = "${I} b_offset", [KILN_ARG_B_STRIDE] = "${I} b_stride",
    [KILN_ARG_LDB] = "${I} ldb",
    [KILN_ARG_C] = "__global ${T} *restrict C",
    [KILN_ARG_C_OFFSET] = "${I} c_offset", [KILN_ARG_C_STRIDE] = "${I} c_stride",
    [KILN_ARG_LDC] = "${I} ldc",
    [KILN_ARG_PACKED_A] = "__global const ${R} *restrict packed_a",
    [KILN_ARG_PACKED_A_AT] = "long a_at", [KILN_ARG_PACKED_A_STRIDE] = "${I} a_stride",
    [KILN_ARG_PACKED_B] = "__global const ${R} *restrict packed_b",
    [KILN_ARG_PACKED_B_AT] = "long b_at", [KILN_ARG_PACKED_B_STRIDE] = "${I} b_stride",
    [KILN_ARG_ALPHA_IMAG] = "${R} alpha_imag", [KILN_ARG_BETA_IMAG] = "${R} beta_imag",
    [KILN_ARG_CONJ_A] = "int conj_a", [KILN_ARG_CONJ_B] = "int conj_b",
    [KILN_ARG_TRIANGLE] = "int triangle", [KILN_ARG_HERMITIAN] = "int is_hermitian",
    [KILN_ARG_RSA] = "${I} rsa", [KILN_ARG_CSA] = "${I} csa",
    [KILN_ARG_RSB] = "${I} rsb", [KILN_ARG_CSB] = "${I} csb",
    [KILN_ARG_PARTS] = "int num_parts",
};

bool signature_parse(const char *args, bool is_whole, struct signature *signature)
{
    static const char as[] = "as ";
    *signature = (struct signature){ .num = 0 };
    for (const char *at = args + strspn(args, " ;"); *at; at += strspn(at, " ;")) {
        const size_t len = strcspn(at, " ;");
        const int code = word_find(signature_arg_names, KILN_NUM_ARG_CODES, at, len);
        if (code < 0 || signature->num == KILN_MAX_ARGS)
            return false;
        at += len + strspn(at + len, " ");
        if (is_whole && (code == KILN_ARG_TRIANGLE || code == KILN_ARG_HERMITIAN))
            continue;
        const char *declaration = declarations[code];
        size_t size = declaration ? strlen(declaration) : 0;
        if (!strncmp(at, as, strlen(as))) {
            declaration = at + strlen(as);
            size = strcspn(declaration, ";");
            at = declaration + size;
        }
        if (!size)
            return false;
        signature->args[signature->num].code = (uint8_t) code;
        signature->args[signature->num].declaration = declaration;
        signature->args[signature->num++].len = size;
    }
    return true;
}

/* Each matrix has a line of its own, and so have the factors. */
static void declare(const struct signature *signature, struct text *head)
{
    for (unsigned i = 0; i < signature->num; i++) {
        const char *declaration = signature->args[i].declaration;
        const bool begins_line = !strncmp(declaration, "__", 2) ||
                                 signature->args[i].code == KILN_ARG_ALPHA;
        text_add(head, "%s%.*s",
                i == 0        ? ""
                : begins_line ? ",\n        "
                              : ", ",
                (int) signature->args[i].len, declaration);
    }
}

bool signature_head(const char *name, const char *locals, const char *args, bool is_whole,
        struct text *head)
{
    struct signature signature;
    if (!signature_parse(args, is_whole, &signature))
        return false;
    text_add(head, "__kernel __attribute__((reqd_work_group_size(");
    for (unsigned i = 0; i < 3; i++) {
        locals += strspn(locals, " ;");
        const int len = (int) strcspn(locals, ";");
        text_add(head, len ? "${%.*s}%s" : "%.*s1%s", len, locals, i < 2 ? ", " : ")))\n");
        locals += len;
    }
    text_add(head, "void %s(", name);
    declare(&signature, head);
    text_add(head, ")\n");
    return !head->failed;
}
