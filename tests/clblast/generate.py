#!/usr/bin/env python3
"""generate.py MODEL: reads a prompt of 200 tokens and generates 32, greedily, by llama-cpp-python.
Prints them, and on standard error the seconds that the second of two such rounds took."""
import sys
import time

import llama_cpp

PROMPT = [1] + [i * 37 % 250 + 260 for i in range(199)]


def generate(model):
    model.reset()
    tokens = []
    for token in model.generate(PROMPT, temp=0.0, top_k=1, repeat_penalty=1.0):
        tokens.append(token)
        if len(tokens) == 32:
            return tokens


def main():
    model = llama_cpp.Llama(sys.argv[1], n_ctx=512, n_batch=256, n_threads=1, verbose=False)
    first = generate(model)
    begin = time.perf_counter()
    second = generate(model)
    print(f'seconds: {time.perf_counter() - begin:.3f}', file=sys.stderr)
    print(first, second, model.detokenize(second))


main()
