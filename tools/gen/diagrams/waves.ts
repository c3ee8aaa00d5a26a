/** A rollout in its second wave, and its budget. */
import { arrow, box, drawing, rect, type Tone, text } from './draw';

const size = 26;
const pitch = 34;

/** Nodes as small squares, `columns` in a row. */
const nodes = (x: number, y: number, columns: number, tones: readonly Tone[]): string =>
  tones
    .map((tone, index) =>
      rect(x + (index % columns) * pitch, y + Math.floor(index / columns) * pitch, size, size, tone),
    )
    .join('');

const repeat = (tone: Tone, count: number): Tone[] => Array.from({ length: count }, () => tone);

const wave = (x: number, w: number, title: string, when: string, tones: readonly Tone[], columns: number): string =>
  rect(x, 20, w, 190, 'faint') +
  text([x + 14, 46], title, 'title') +
  text([x + 14, 66], when) +
  nodes(x + 14, 86, columns, tones);

const key: readonly (readonly [Tone, string])[] = [
  ['good', 'done, its soak is over'],
  ['main', 'working or soaking'],
  ['bad', 'failed or parked'],
  ['plain', 'waits for its turn'],
];

/** docs/diagrams/waves.svg */
export const renderWaves = (): string =>
  drawing(
    'waves',
    [920, 400],
    'Waves and budget of a rollout',
    'Three waves: one node, which is done; then eight nodes, of which three are done, one works, one has failed and three wait; then ' +
      'the rest, which all wait. Below them the budget of two: the failed node and the working node take both places, so no other ' +
      'node starts until the working node is done or an operator retries the failed one.',
    [
      wave(20, 190, 'Wave 1', '1 node, soak 30 min', repeat('good', 1), 4),
      arrow([
        [210, 115],
        [246, 115],
      ]),
      wave(246, 250, 'Wave 2', '5 %', [...repeat('good', 3), 'bad', 'main', ...repeat('plain', 3)], 4),
      arrow([
        [496, 115],
        [532, 115],
      ]),
      wave(532, 368, 'Wave 3', 'the rest', repeat('plain', 30), 10),
      text([20, 258], 'Budget: {total: 2}', 'title'),
      text([20, 280], 'Failed, parked and working nodes together'),
      box({ x: 20, y: 296, w: 180, h: 50, title: 'failed', tone: 'bad' }),
      box({ x: 212, y: 296, w: 180, h: 50, title: 'working', tone: 'main' }),
      text([412, 318], 'Both places are taken: no node starts.', 'title'),
      text([412, 338], 'A node that is done frees its place. A failed node keeps it until it is retried.'),
      ...key.map(
        ([tone, means], index) => rect(20 + index * 215, 368, 16, 16, tone) + text([44 + index * 215, 381], means),
      ),
    ],
  );
