/** Forms as a browser posts them, and what is refused without being read. */
import { Readable } from 'node:stream';
import { readForm } from '../../src/model/forms';

const usual = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };

const read = async (parts: readonly string[], headers: Readonly<Record<string, string>> = usual) => {
  const request = Object.assign(Readable.from(parts.map((part) => Buffer.from(part))), { headers, body: undefined });
  const thrown = await new Promise<Error | undefined>((done) => void readForm(request, undefined, done));
  return {
    body: request.body,
    status: (thrown as { status?: number } | undefined)?.status,
    ended: request.readableEnded,
  };
};

test('fields are read however they are cut, and those of one name are a list', async () => {
  const { body } = await read([...'a=1&b=x+y%20%C3%A4&a=2&a=3&__proto__=p']);
  expect(Object.entries(body ?? {})).toEqual([
    ['a', ['1', '2', '3']],
    ['b', 'x y \u00e4'],
    ['__proto__', 'p'],
  ]);
});

test('another type is no form', async () => {
  expect(await read(['{}'], { 'content-type': 'application/json' })).toMatchObject({
    body: undefined,
    status: undefined,
  });
  expect(await read(['{}'], {})).toMatchObject({ body: undefined, status: undefined });
});

test.each([
  ['too many bytes', 413, [`a=${'x'.repeat(300_000)}`, 'x'.repeat(300_000), 'x'], usual],
  ['too many fields', 413, ['a=1&'.repeat(1_001)], usual],
  ['a packed form', 415, ['a=1'], { ...usual, 'content-encoding': 'gzip' }],
])('%s are refused with %i, once all of it has come', async (_what, status, parts, headers) => {
  expect(await read(parts, headers)).toEqual({ body: undefined, status, ended: true });
});
