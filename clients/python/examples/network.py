#!/usr/bin/env python3
"""A small network. Its weights are packed once, and multiply inputs of any number of rows."""
import numpy as np
import pyopencl as cl
import pyopencl.array

import kiln

WIDTHS = (64, 256, 256, 10)
ROWS = 32                                # of the inputs that the packs are made for

queue = cl.CommandQueue(cl.create_some_context(interactive=False))
context = kiln.Context.shared(queue)
random = np.random.default_rng(3)
weights = [random.standard_normal(shape, np.float32) / np.sqrt(np.float32(shape[0]))
           for shape in zip(WIDTHS, WIDTHS[1:])]
layers = [context.pack_b(cl.array.to_device(queue, weight), ROWS) for weight in weights]


def forward(inputs):
    """Each layer multiplies; negative elements become 0 between layers."""
    x = cl.array.to_device(queue, inputs)
    for layer in layers[:-1]:
        x = kiln.gemm(x, layer)
        x = cl.array.maximum(x, cl.array.zeros_like(x))
    return kiln.gemm(x, layers[-1]).get()


for rows in (ROWS, 1, 100):
    inputs = random.standard_normal((rows, WIDTHS[0]), np.float32)
    wanted = inputs
    for weight in weights[:-1]:
        wanted = np.maximum(wanted @ weight, 0)
    wanted = wanted @ weights[-1]
    error = abs(forward(inputs) - wanted).max()
    print(f'{rows} rows: largest error {error:.1e}')
    assert error < 1e-3
print(f'packed: {sum(layer.nbytes for layer in layers)} bytes')
