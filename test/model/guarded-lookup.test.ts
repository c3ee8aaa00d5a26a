/** The lookup of both doors, to BMCs and to webhooks: what was checked is what is connected to, and no other is written. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { guardedLookup } from '../../src/model/access/guarded-lookup';

const answerOf = (addresses: readonly string[], all: boolean, check: (host: string) => void = () => {}) =>
  new Promise((done) =>
    guardedLookup(async () => addresses, check)('a.example.org', { all }, (...answer) => done(answer)),
  );

test('what was checked is answered, of both families', async () => {
  const checked = jest.fn();
  expect(await answerOf(['192.0.2.7', '2001:db8::7'], true, checked)).toEqual([
    null,
    [
      { address: '192.0.2.7', family: 4 },
      { address: '2001:db8::7', family: 6 },
    ],
  ]);
  expect(checked).toHaveBeenCalledWith('a.example.org', ['192.0.2.7', '2001:db8::7']);
  expect(await answerOf(['2001:db8::7'], false)).toEqual([null, '2001:db8::7', 6]);
});

test.each([true, false])('what is refused, and a name without an address, are not answered (all: %s)', async (all) => {
  const refusal = new Error('refused');
  const refuse = (): never => {
    throw refusal;
  };
  expect(await answerOf(['192.0.2.7'], all, refuse)).toEqual([refusal, '']);
  expect(await answerOf([], all)).toEqual([expect.objectContaining({ code: 'ENOTFOUND' }), '']);
});

test('no other lookup for sockets is written', () => {
  const src = join(__dirname, '../../src');
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  expect(files.length).toBeGreaterThan(300);
  const writing = files.filter((path) =>
    /LookupFunction|LookupAddress|family: isIP/.test(readFileSync(join(src, path), 'utf8')),
  );
  expect(writing).toEqual([]);
});
