#!/usr/bin/env python3
"""make_model.py FILE: writes a language model of llama's kind in GGUF, with random weights."""
import sys

import gguf
import numpy

VOCABULARY, WIDTH, HIDDEN, HEADS, LAYERS, CONTEXT = 512, 256, 512, 4, 2, 512
# The kinds of tokens that GGUF knows.
NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6


def add_vocabulary(writer):
    tokens = [(b'<unk>', UNKNOWN), (b'<s>', CONTROL), (b'</s>', CONTROL)]
    tokens += [(b'<0x%02X>' % i, BYTE) for i in range(256)]
    tokens += [(b'\xe2\x96\x81w%d' % i, NORMAL) for i in range(VOCABULARY - len(tokens))]
    writer.add_tokenizer_model('llama')
    writer.add_token_list([text for text, _ in tokens])
    writer.add_token_types([kind for _, kind in tokens])
    writer.add_token_scores([-float(i) for i in range(VOCABULARY)])
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)


def add_weights(writer):
    random = numpy.random.default_rng(7)

    def add(name, rows, columns):
        weights = random.standard_normal((rows, columns)) / columns ** 0.5
        writer.add_tensor(name + '.weight', weights.astype(numpy.float32))

    def add_norm(name):
        writer.add_tensor(name + '.weight', numpy.ones(WIDTH, numpy.float32))

    add('token_embd', VOCABULARY, WIDTH)
    add('output', VOCABULARY, WIDTH)
    add_norm('output_norm')
    for layer in range(LAYERS):
        block = f'blk.{layer}.'
        add_norm(block + 'attn_norm')
        add_norm(block + 'ffn_norm')
        for name in ('attn_q', 'attn_k', 'attn_v', 'attn_output'):
            add(block + name, WIDTH, WIDTH)
        add(block + 'ffn_gate', HIDDEN, WIDTH)
        add(block + 'ffn_up', HIDDEN, WIDTH)
        add(block + 'ffn_down', WIDTH, HIDDEN)


def main():
    writer = gguf.GGUFWriter(sys.argv[1], 'llama')
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_block_count(LAYERS)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    add_vocabulary(writer)
    add_weights(writer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


main()
