/** Bodies are read within a bound, and what a sender cuts into small pieces costs no more than its bytes. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { AnswerTooLong, bytesWithin, requestBytes, textWithin } from '../../src/model/bodies';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

async function* sent(...parts: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield typeof part === 'string' ? Buffer.from(part) : part;
}

test.each([
  [[], 0, ''],
  [[''], 0, ''],
  [['abc'], 3, 'abc'],
  [['a', '', 'b', 'c'], 3, 'abc'],
  [['x'.repeat(5_000), 'y'.repeat(9_000)], 14_000, 'x'.repeat(5_000) + 'y'.repeat(9_000)],
])('all of %j is read within %d bytes', async (parts, most, text) => {
  expect(Buffer.from(await bytesWithin(sent(...parts), most)).toString()).toBe(text);
});

describe('a request that announces its length', () => {
  const asked = (bytes: number, announced: number) => {
    const pieces = Array.from({ length: bytes / 1_000 }, () => new Uint8Array(1_000));
    return requestBytes({ iterator: () => sent(...pieces) }, 1_000_000, announced);
  };

  test('is read into a buffer of that length', async () => {
    const bytes = await asked(300_000, 300_000);
    expect([bytes.length, bytes.buffer.byteLength]).toEqual([300_000, 300_000]);
  });

  test.each([
    [10_000, 1_000_000],
    [100_000, 1_000_000],
    [10_000, 4_000],
    [300_000, Number.NaN],
  ])('gets at most eight times what it sent: %d bytes of %d', async (bytes, announced) => {
    const read = await asked(bytes, announced);
    expect(read.length).toBe(bytes);
    expect(read.buffer.byteLength).toBeLessThanOrEqual(8 * bytes);
  });
});

test('a body is left as soon as it goes on beyond the bound, which ends its sender', async () => {
  let ended = false;
  async function* endless() {
    try {
      for (;;) yield Buffer.from('1234');
    } finally {
      ended = true;
    }
  }
  await expect(bytesWithin(endless(), 10_001)).rejects.toBeInstanceOf(AnswerTooLong);
  expect(ended).toBe(true);
});

test('a character that is cut in two is whole in the text, and no body is no text', async () => {
  const bytes = Buffer.from('\u00e4\u{1f600}');
  const body = new ReadableStream({
    start(to) {
      for (const byte of bytes) to.enqueue(Uint8Array.of(byte));
      to.close();
    },
  });
  expect(await textWithin(new Response(body), 6)).toBe('\u00e4\u{1f600}');
  expect(await textWithin(new Response(null), 6)).toBe('');
  await expect(textWithin(new Response('1234567'), 6)).rejects.toBeInstanceOf(AnswerTooLong);
});

test('none of the pieces is kept until the end', async () => {
  const pieces: WeakRef<Uint8Array>[] = [];
  let alive = -1;
  async function* bytes() {
    for (let at = 0; at < 1_000; at += 1) {
      const piece = Uint8Array.of(at % 256);
      pieces.push(new WeakRef(piece));
      yield piece;
    }
    await turn();
    collect();
    alive = pieces.filter((piece) => piece.deref()).length;
  }
  expect(await bytesWithin(bytes(), 1_000)).toHaveLength(1_000);
  expect(alive).toBeLessThan(10);
});

test('nobody reads a body by what keeps its pieces', () => {
  const files = readdirSync(join(__dirname, '../../src'), { recursive: true, encoding: 'utf8' });
  const keeping =
    /\b(reply|answer|response|body|request)\w*\s*\.(text|json|bytes|arrayBuffer|blob|formData)\(\)|express\.(raw|json|text|urlencoded)\(/;
  const found = files
    .filter((file) => /\.tsx?$/.test(file))
    .filter((file) => keeping.test(readFileSync(join(__dirname, '../../src', file), 'utf8')));
  expect(found).toEqual([]);
});
