#!/usr/bin/env python3
"""test_new_type.py: a type is added to a copy of the sources in the places that ADDING.md names.

usage: test_new_type.py SOURCE_DIR

The type is bfloat16 with sums in float. Its kernels are rendered, verified on the CPU device that
is there, and called through the library. Exit status 77: there is no such device.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# File: pairs of what stands there, and what stands behind it from now on.
ADDED = {
    "runtime/precisions.inc": [
        ("STORAGE(HALF, 2, 0x7dad)\n", "STORAGE(BFLOAT16, 2, 0x7fad)\n"),
        ("PRECISION(HALF, 1, half, 'h', \"half\", HALF, 1, float, 10)\n",
         "PRECISION(BRAIN, 7, brain, 'b', \"ushort\", BFLOAT16, 1, float, 7)\n")],
    "runtime/include/kiln/kiln.h": [("KILN_HALF = 1,", " KILN_BRAIN = 7,")],
    "runtime/element.h": [
        ("static inline void kiln_real_put(enum kiln_storage storage, void *at, double value)\n{\n"
         "    switch (storage) {\n",
         """    case KILN_STORED_BFLOAT16: {
        const float single = (float) value;
        uint32_t bits;
        memcpy(&bits, &single, sizeof bits);
        bits = isnan(single) ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1);
        const uint16_t brain = (uint16_t) (bits >> 16);
        memcpy(at, &brain, sizeof brain);
        break;
    }
"""),
        ("static inline double kiln_real_get(enum kiln_storage storage, const void *at)\n{\n"
         "    switch (storage) {\n",
         """    case KILN_STORED_BFLOAT16: {
        uint16_t brain;
        float single;
        memcpy(&brain, at, sizeof brain);
        const uint32_t bits = (uint32_t) brain << 16;
        memcpy(&single, &bits, sizeof single);
        return single;
    }
""")],
    # The line that stood there goes one level in.
    "generator/kernels/common/element.cl.in": [
        ("static ${R} load(__global const ${T} *p)\n{\n",
         "    @if BRAIN\n        return as_float((uint) *p << 16);\n    @else\n    "),
        ("    return $if(HALF;vload_half(0, p);*p);\n", "    @end\n"),
        ("static void store(${R} x, __global ${T} *p)\n{\n",
         """    @if BRAIN
        const uint bits = as_uint(x);
        *p = (ushort) (isnan(x) ? 0x7fc0 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    @else
    """),
        ("    $if(HALF;vstore_half(x, 0, p);*p = x);\n", "    @end\n"),
        ("static ${RV} load_vector(__global const ${T} *p)\n{\n",
         """    @if BRAIN
        return as_${RV}(convert_uint${VEC}(vload${VEC}(0, p)) << 16);
    @else
    """),
        ("    return vload$if(HALF;_half)${VEC}(0, p);\n", "    @end\n"),
        ("static void store_vector(${RV} x, __global ${T} *p)\n{\n",
         """    @if BRAIN
        $list(i in 0..VEC; ;store(x.s${i}, p + ${i});)
    @else
    """),
        ("    vstore$if(HALF;_half)${VEC}(x, 0, p);\n", "    @end\n")],
    "generator/kernels/direct/direct.c": [(".serves = \"", "BRAIN || ")],
    "tuned/generic/winners.tsv": [],   # below
}
OPTIONS = ["-Dtune=off", "-Dbundles=generic", "-Dbuildtype=debug", "-Dwerror=true",
           "-Dinstall_tools=false", "-Dblas=disabled", "-Dclblast=disabled"]
SHAPES = ["1x1x1", "33x17x65", "64x64x64", "7x250x3"]


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 77:
        sys.exit(77)
    if done.returncode:
        sys.exit(f"FAILED: {' '.join(map(str, command))}\n{(done.stdout + done.stderr)[-8000:]}")
    return done.stdout + done.stderr


def what_is_no_source(folder, names):
    return [name for name in names if name == ".git" or
            name.startswith("build") and (pathlib.Path(folder) / name).is_dir()]


def add_type(tree):
    for name, places in ADDED.items():
        text = (tree / name).read_text()
        for before, more in places:
            if text.count(before) != 1:
                sys.exit(f"FAILED: {name} has not once: {before}")
            text = text.replace(before, before + more)
        (tree / name).write_text(text)


def add_recipes(tree, kiln_gen):
    """The generic bundle gets the recipes that halves have of the family."""
    winners = tree / "tuned/generic/winners.tsv"
    rows = winners.read_text().splitlines(keepends=True)
    new = [re.sub(r"\t[0-9a-f]{16}\b", "\t" + "0" * 16, row.replace("\thalf\t", "\tbrain\t"))
           for row in rows if row.startswith("recipe\thalf\tdirect ")]
    last = max(i for i, row in enumerate(rows) if row.startswith("recipe\t"))
    winners.write_text("".join(rows[:last + 1] + new + rows[last + 1:]))
    run(kiln_gen, "emit", winners, "-o", winners.with_name("bundle.c"))


def check_places(source):
    """The files that are changed are those that ADDING.md tells of a type."""
    section = re.search(r"^## A type\n(.*?)^Then ", (source / "ADDING.md").read_text(), re.M | re.S)
    told = {name for name in re.findall(r"`([\w./]+)`", section[1])
            if name != "tests/package/test_new_type.py" and (source / name).is_file()}
    told -= {"common/complex.cl.in"}
    if told != set(ADDED):
        sys.exit(f"FAILED: ADDING.md names {sorted(told)}, and {sorted(ADDED)} are changed")


def check_results(bench):
    text = run(bench, "--precision", "b", "--transpose", "nn,nt,tn,tt", "--peers", "kiln",
               "--rounds", "1", *(word for shape in SHAPES for word in ("--shape", shape)))
    if "bundle: generic; kernel: direct" not in text:
        sys.exit(f"FAILED: it is not served:\n{text}")
    error = re.search(r"largest error, in units of eps .*: +kiln ([\d.]+)$", text, re.M)
    if not error or not 0 < float(error[1]) < 16:
        sys.exit(f"FAILED: its results are wrong:\n{text}")


def main():
    source = pathlib.Path(sys.argv[1])
    check_places(source)
    with tempfile.TemporaryDirectory() as scratch:
        tree, build = pathlib.Path(scratch) / "kiln", pathlib.Path(scratch) / "build"
        shutil.copytree(source, tree, ignore=what_is_no_source)
        add_type(tree)
        run("meson", "setup", build, tree, *OPTIONS)
        kiln_gen = build / "generator/kiln-gen"
        run("ninja", "-C", build, "generator/kiln-gen")
        text = run(kiln_gen, "render", "direct VEC=4", "-p", "brain")
        if "__global const ushort *restrict A" not in text:
            sys.exit(f"FAILED: no kernel for it:\n{text}")
        add_recipes(tree, kiln_gen)
        run("ninja", "-C", build, "tests/kernels/kernel_test", "tests/bench/kiln-bench")
        for config in ("direct WGM=1 WGN=1 TM=4 VEC=4 KU=2", "direct WGM=8 WGN=8 TM=2"):
            print(run(build / "tests/kernels/kernel_test", "--config", config, "--precision",
                      "brain").splitlines()[-1])
        check_results(build / "tests/bench/kiln-bench")


main()
