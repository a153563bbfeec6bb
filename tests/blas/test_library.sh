#!/bin/sh
# test_library.sh LIBRARY ARCHIVE FALLBACK: what the library exports and needs, that it can stand in
# for libblas.so.3, and what it says to settings that cannot be meant.
set -eu

[ $# -eq 3 ] || { echo "usage: $0 LIBRARY ARCHIVE FALLBACK" >&2; exit 2; }
library=$(realpath "$1")
archive=$(realpath "$2")
fallback=$3

scratch=$(mktemp -d "${TMPDIR:-/tmp}/kiln-blas.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

die()
{
    echo "FAILED: $*" >&2
    exit 1
}

nm -D --defined-only "$library" | awk '{ print $3 }' | sort >exported
[ "$(wc -l <exported)" -eq 32 ] || die "it exports $(wc -l <exported) names, not 32"
! grep -Ev '^(cblas_)?[sdcz](gemm|symm|syrk|hemm|herk)_?$' exported || die "it exports these"
readelf -d "$library" | grep -q "NEEDED.*\[${fallback##*/}\]" || die "it does not need $fallback"
nm -g --defined-only "$archive" | awk 'NF == 3 { print $3 }' | grep -v '^kiln_blas_' | sort >names
diff exported names || die "the archive (>) has other names than the library (<)"
echo "ok: names"

# A program that knows libblas.so.3 alone, and calls what the library has (dgemm_) and has not.
cat >program.c <<'END'
#include <stdio.h>
void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *,
        const double *, const int *, const double *, const int *, const double *, double *,
        const int *);
double ddot_(const int *, const double *, const int *, const double *, const int *);
int main(void)
{
    const int size = 2, one = 1;
    const double a[4] = { 1, 2, 3, 4 }, alpha = 1, beta = 0;
    double c[4];
    dgemm_("N", "T", &size, &size, &size, &alpha, a, &size, a, &size, &beta, c, &size);
    printf("%g %g %g %g %g\n", c[0], c[1], c[2], c[3], ddot_(&size, a, &one, a, &one));
    return 0;
}
END
# It is linked with a library that has these names alone, and run with another in its place.
echo 'void dgemm_(void) {} void ddot_(void) {}' >stand_in.c
cc -shared -fPIC -Wl,-soname,libblas.so.3 -o libblas.so stand_in.c
cc -o program program.c -L. -lblas
ln -s "$library" libblas.so.3
# run VARIABLE=VALUE...
run()
{
    env LD_LIBRARY_PATH="$PWD" KILN_BLAS_VERBOSE=1 KILN_BLAS_LEAST_OPS=0 "$@" ./program \
        >output 2>said
    grep -q '^10 14 14 20 5$' output ||
        { cat output said >&2; die "$*: it computes something else"; }
}
run KILN_BLAS_DEVICE=
grep -Eq 'dgemm_ 2 2 2: (Kiln|fallback, there is no device)' said || die "it was not asked"
echo "ok: libblas.so.3"

# refused VARIABLE=VALUE...: one line says that the last is ignored, and the call is served as ever.
refused()
{
    run "$@"
    [ "$(grep -c "is ignored" said)" -eq 1 ] || { cat said >&2; die "$* is not refused once"; }
    echo "ok: $(grep 'is ignored' said)"
}
refused KILN_BLAS_LEAST_OPS=many
refused KILN_BLAS_LEAST_OPS=-1
refused KILN_BLAS_ZERO_COPY=2
refused KILN_BLAS_ZERO_COPY=0.5
refused KILN_BLAS_LEAST_OPS=1e9 KILN_BLAS_FALLBACK=/nowhere/libblas.so.3
refused KILN_BLAS_LEAST_OPS=1e9 KILN_BLAS_FALLBACK="$library"
grep -q 'no device' said || refused KILN_BLAS_DEVICE='no such device'
