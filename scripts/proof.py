#!/usr/bin/env python3
"""proof.py: what is known of a library with tuned bundles, on one page.

usage: scripts/proof.py LIBRARY FOLDER...

Prints Markdown: of each FOLDER of a bundle the device, the recipes with the hashes of their texts,
and what choosing among them loses, from its device.tsv and winners.tsv; of LIBRARY its hash.

Exit status: 0 on success, 1 on failure, 2 on wrong usage.
"""
import hashlib
import pathlib
import sys

from common import answer

PAIRS = ('NN', 'NT', 'TN', 'TT')


def rows_of(path, kind):
    """The fields behind the first of all rows of a kind."""
    rows = []
    for line in path.read_text(encoding='utf-8').splitlines():
        fields = line.split('\t')
        if fields[0] == kind:
            rows.append(fields[1:])
    return rows


def table(heads, rows):
    lines = ['| ' + ' | '.join(heads) + ' |', '|' + '---|' * len(heads)]
    return lines + ['| ' + ' | '.join(row) + ' |' for row in rows]


def percent(ratio):
    return f'{100 * (float(ratio) - 1):.1f} %'


def bundle_page(folder):
    winners, device = folder / 'winners.tsv', folder / 'device.tsv'
    name = rows_of(winners, 'bundle')[0][0]
    lines = [f'## {name}', '',
             f'{rows_of(winners, "provenance")[0][0]}. It serves devices of this name on this '
             'platform, and their relatives where those have no bundle of their own.', '']
    lines += table(('', ''), [(key, rows_of(device, key)[0][0])
                              for key in ('platform', 'device', 'driver', 'UNITS')])
    lines += ['', 'Every recipe passed, before it was chosen, every edge class that follows from '
              'its tiles, for all four pairs of transposes (`generator/tune/README.md`): extents '
              'of 0 and 1, and one above and below a tile, leading dimensions, offsets, special '
              'alpha and beta, all elements compared, with guard zones around the matrices. What '
              'has no time of its own, forms of complex operands and of triangles, follows from '
              'these, and is tested on the device by `runtime-forms`. Hashes are those of the '
              'texts that were tuned; `kiln-gen check` names what became of them since.', '']
    recipes = [(precision, f'`{config}`', ' '.join(sorted(set(hashes))))
               for precision, config, *hashes in rows_of(winners, 'recipe')]
    lines += table(('precision', 'recipe', 'texts: ' + ', '.join(PAIRS) + ', each once'), recipes)
    lines += ['', 'What choosing loses, against the fastest of all that was verified, at shapes '
              'that were used for nothing else:', '']
    lines += table(('precision', 'class', 'shapes', 'mean', '95 %', 'worst'),
                   [(precision, kind, shapes, percent(mean), percent(most), percent(worst))
                    for precision, kind, shapes, mean, most, worst in rows_of(winners, 'loss')])
    return lines + ['']


def page(library, folders):
    digest = hashlib.sha256(library.read_bytes()).hexdigest()
    lines = ['# Kiln: what this library was proved to do', '',
             f'`{library.name}`, SHA-256 {digest}.', '']
    for folder in folders:
        lines += bundle_page(folder)
    return lines + [
        '## To see for yourself', '',
        'With the sources of this version, on the device:', '',
        '    scripts/test.sh                             # all tests, on the device at hand',
        '    build/tests/bench/kiln-bench --shapes random --seed 1 --count 100 --best', '',
        'The second draws shapes, times every recipe at each, and tells what choosing loses. '
        '`kiln-gen check` makes the texts again, and compares them. To tune anew: `kiln-tune tune '
        '--output DIR`.', '',
        'A program links one such library. Two define the same functions: for several devices, '
        'make one of several bundles (`scripts/bundle_archive.sh NAME,NAME DIR`).']


def main():
    answer(__doc__)
    if len(sys.argv) < 3:
        print('usage: proof.py LIBRARY FOLDER...; see --help', file=sys.stderr)
        return 2
    try:
        lines = page(pathlib.Path(sys.argv[1]), [pathlib.Path(name) for name in sys.argv[2:]])
    except OSError as error:
        print(f'proof.py: {error.filename}: {error.strerror}', file=sys.stderr)
        return 1
    except (IndexError, ValueError) as error:
        print(f'proof.py: a bundle\'s table is damaged: {error}', file=sys.stderr)
        return 1
    print('\n'.join(lines))
    return 0


if __name__ == '__main__':
    sys.exit(main())
