/** What a body may be: each limit at its edge, and a refusal that names the place. */
import { Readable } from 'node:stream';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { bodyLimit, checkText, checkValue, maxDepth, maxValues, parseBody } from '../../src/api/body/body';
import { createOpenBudget } from '../../src/api/body/open-budget';
import { callerKey } from '../../src/api/server/caller-key';
import { faultOf, startTestApi, type TestApi } from '../support/api';

const limits = { depth: maxDepth, values: maxValues };
const parse = (text: string | Buffer, texts: 'storable' | 'any' = 'storable') =>
  parseBody(Buffer.from(text as string), limits, texts);
const refused = (field: string) => expect.objectContaining({ code: 'InvalidInput', facts: { ...reason, field } });
const reason = { reason: expect.any(String) };
const nested = (depth: number, inner: unknown = 'x'): unknown => (depth === 0 ? inner : [nested(depth - 1, inner)]);

describe('a document', () => {
  test('may be as deep as the limit, in lists and objects, and no deeper', () => {
    expect(() => checkValue(nested(maxDepth))).not.toThrow();
    expect(() => checkValue(nested(maxDepth + 1))).toThrow(
      expect.objectContaining({ code: 'BodyTooDeep', facts: { limit: maxDepth } }),
    );
    expect(() => checkValue(nested(maxDepth - 1, { a: 1 }))).not.toThrow();
    const within = (depth: number): unknown => (depth === 0 ? 1 : { a: within(depth - 1) });
    expect(() => checkValue(within(maxDepth))).not.toThrow();
    expect(() => checkValue(within(maxDepth + 1))).toThrow(expect.objectContaining({ code: 'BodyTooDeep' }));
    expect(() => checkValue(nested(maxDepth, { a: 1 }))).toThrow(expect.objectContaining({ code: 'BodyTooDeep' }));
  });

  test('may hold as many values as the limit, itself counted, and no more', () => {
    expect(() => checkValue([1, 2, 3], 4)).not.toThrow();
    expect(() => checkValue([1, 2, 3, 4], 4)).toThrow(
      expect.objectContaining({ code: 'BodyTooManyValues', facts: { limit: 4 } }),
    );
    expect(() => parseBody(Buffer.from('[1,2,3,4]'), { depth: 9, values: 4 }, 'storable')).toThrow(
      expect.objectContaining({ code: 'BodyTooManyValues', facts: { limit: 4 } }),
    );
    expect(() => parseBody(Buffer.from('[[1]]'), { depth: 1, values: 9 }, 'storable')).toThrow(
      expect.objectContaining({ code: 'BodyTooDeep', facts: { limit: 1 } }),
    );
    expect(() => checkValue(Array(maxValues - 1).fill(null))).not.toThrow();
    expect(() => checkValue(Array(maxValues).fill(null))).toThrow(
      expect.objectContaining({ code: 'BodyTooManyValues' }),
    );
  });

  test.each([
    ['a text', { extra: { notes: ['fine', 'bad\0'] } }, 'extra.notes.1'],
    ['half a pair', { extra: { list: [{}, { at: '\ud800' }] } }, 'extra.list.1.at'],
    ['a key', { extra: { 'bad\0': 1 } }, 'extra.a key'],
    ['the document itself', 'bad\0', 'body'],
    ['a long path', { ['k'.repeat(300)]: '\0' }, 'k'.repeat(200)],
  ])('that holds what cannot be stored is refused, and the refusal names the place: %s', (_what, document, field) => {
    expect(() => checkValue(document)).toThrow(refused(field));
  });

  test('holds whole pairs, nulls, numbers and empty containers', () => {
    expect(() => checkValue({ a: '\ud83d\ude00', b: null, c: 1, d: [], e: {}, f: false })).not.toThrow();
  });

  test('a single text is held to the same', () => {
    expect(() => checkText('fine', 'name')).not.toThrow();
    expect(() => checkText('bad\0', 'name')).toThrow(refused('name'));
  });
});

describe('the bytes of a body', () => {
  test('none are no body, with a byte order mark or without', () => {
    expect([parse(''), parse(Buffer.from([0xef, 0xbb, 0xbf]))]).toEqual([undefined, undefined]);
  });

  test('may begin with a byte order mark', () => {
    expect(parse('\ufeff{"a":1}')).toEqual({ a: 1 });
  });

  test('that are no UTF-8 are refused, but where any text will do', () => {
    const bytes = Buffer.from([0x22, 0xff, 0x22]);
    expect(() => parse(bytes)).toThrow(expect.objectContaining({ code: 'UnreadableBody' }));
    expect(parse(bytes, 'any')).toBe('\ufffd');
  });

  test('a key that comes twice is refused by its name, cut to what can be shown', () => {
    expect(() => parse('{"owner":"a","owner":"b"}')).toThrow(refused('owner'));
    const long = 'k'.repeat(300);
    expect(() => parse(`{"${long}":1,"${long}":2}`)).toThrow(refused('k'.repeat(200)));
    expect(parse('{"owner":"a","owner":"b"}', 'any')).toEqual({ owner: 'b' });
  });

  test('a whole number that would not be kept digit by digit is refused, as a number only, but where any text will do', () => {
    const inexact = (digits: string) => expect.objectContaining({ facts: { reason: expect.stringContaining(digits) } });
    for (const number of ['12345678901234567890', '-9007199254740993', '9007199254740992'])
      expect(() => parse(`{"extra":{"serial":[${number}]}}`)).toThrow(inexact(`the number ${number} is beyond 2^53`));
    expect(() => parse(`[1${'0'.repeat(400)}]`)).toThrow(inexact(`the number 1${'0'.repeat(39)} is`));
    for (const text of [
      '["12345678901234567890"]',
      '["\\"12345678901234567890"]',
      '[9007199254740991]',
      '[0.12345678901234567]',
      '[1e20]',
    ])
      expect(parse(text)).toEqual(JSON.parse(text));
    expect(parse('[12345678901234567890]', 'any')).toEqual([Number('12345678901234567890')]);
  });

  test('a text that cannot be stored is replaced where any will do, and refused elsewhere', () => {
    expect(JSON.stringify(parse('{"a":"x\\u0000"}', 'any'))).not.toContain('\\u0000');
    expect(() => parse('{"a":"x\\u0000"}')).toThrow(refused('a'));
  });

  test.each(['{', '{"a":}', 'no JSON'])('%s is no JSON', (text) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ status: 400 }));
  });
});

describe('a request', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi({});
  });
  afterAll(() => api?.close());
  const send = async (type: string, raw = '{"description":"x"}') =>
    (await api.as('operator', 'POST', '/v1/chassis', { raw, headers: { 'content-type': type } })).status;

  test.each([
    ['application/json', 201],
    ['text/plain', 201],
    ['application/json; charset=utf-8', 201],
    ['application/json; charset="UTF-8"', 201],
    ['application/json;charset=utf8', 201],
    ['application/json; charset = us-ascii', 201],
    ['application/json; charset=iso-8859-1', 400],
    ['application/json; charset=utf-16', 400],
  ])('of content type %s is answered %i', async (type, status) => {
    expect(await send(type)).toBe(status);
  });

  test('of another charset is refused with that reason', async () => {
    const headers = { 'content-type': 'application/json; charset=utf-16' };
    const reply = await api.as('operator', 'POST', '/v1/chassis', { raw: '{}', headers });
    expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringContaining('charset that is not supported')]);
  });

  test('of more bytes than the limit is refused', async () => {
    const fill = (length: number) => `{"description":"x"${' '.repeat(length - 19)}}`;
    expect([
      await send('application/json', fill(bodyLimit)),
      await send('application/json', fill(bodyLimit + 1)),
    ]).toEqual([201, 413]);
  });

  test.each([
    ['in pieces', {}, (text: string) => Buffer.from(text)],
    ['packed by gzip', { 'content-encoding': 'gzip' }, gzipSync],
    ['packed by deflate', { 'content-encoding': 'Deflate' }, deflateSync],
    ['packed by br', { 'content-encoding': 'br' }, brotliCompressSync],
  ])('that comes %s is bounded by what it becomes', async (_how, headers, packed) => {
    const statusOf = async (length: number) => {
      const body = packed(`{"description":"x"${' '.repeat(length - 19)}}`);
      const pieces = Readable.from([body.subarray(0, 1), body.subarray(1)]);
      const given = { 'x-auth-token': 'operator', 'content-type': 'application/json', ...headers };
      return (
        await fetch(`${api.url}/v1/chassis`, { method: 'POST', headers: given, body: pieces, duplex: 'half' } as object)
      ).status;
    };
    expect([await statusOf(bodyLimit), await statusOf(bodyLimit + 1)]).toEqual([201, 413]);
  });

  test('to an open route may say that its encoding is none', async () => {
    const headers = { 'content-encoding': 'Identity' };
    const reply = await api.as(null, 'POST', '/v1/heartbeat/missing', { body: {}, headers });
    expect(reply.status).not.toBe(415);
  });
});

describe('the budget of bodies without a login', () => {
  const from = (address: string, destroy = jest.fn()) =>
    ({
      socket: { remoteAddress: address },
      ip: address,
      destroy,
      headers: {},
      app: { get: () => () => false },
    }) as unknown as Parameters<ReturnType<typeof createOpenBudget>['spend']>[0];
  const tooMany = expect.objectContaining({ code: 'TooManyAtOnce' });

  test('a place is given back once, however often it is said', () => {
    const { spend } = createOpenBudget({ atOnce: 2, ofOne: 2, withinMs: 60_000 });
    const [first, second] = [spend(from('192.0.2.1')), spend(from('192.0.2.1'))];
    first();
    first();
    const third = spend(from('192.0.2.1'));
    expect(() => spend(from('192.0.2.2'))).toThrow(tooMany);
    expect(() => spend(from('192.0.2.1'))).toThrow(tooMany);
    for (const giveBack of [second, third]) giveBack();
    for (const giveBack of [spend(from('192.0.2.1')), spend(from('192.0.2.1'))]) giveBack();
  });

  test('one address has its own number, and what is refused takes no place', () => {
    const { spend } = createOpenBudget({ atOnce: 3, ofOne: 1, withinMs: 60_000 });
    const held = [spend(from('192.0.2.1'))];
    for (let time = 0; time < 5; time++) expect(() => spend(from('192.0.2.1'))).toThrow(tooMany);
    held.push(spend(from('192.0.2.2')), spend(from('192.0.2.3')));
    expect(() => spend(from('192.0.2.4'))).toThrow(tooMany);
    for (const giveBack of held) giveBack();
  });

  test('a sender loses its connection when its time is over, and not where it was in time', () => {
    jest.useFakeTimers();
    try {
      const { spend } = createOpenBudget({ atOnce: 4, ofOne: 4, withinMs: 1_000 });
      const [slow, quick] = [jest.fn(), jest.fn()];
      const held = spend(from('192.0.2.1', slow));
      spend(from('192.0.2.1', quick))();
      jest.advanceTimersByTime(999);
      expect(slow).not.toHaveBeenCalled();
      jest.advanceTimersByTime(1);
      expect([slow.mock.calls.length, quick.mock.calls.length]).toEqual([1, 0]);
      held();
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('who a caller is', () => {
  const known = {
    strategy: 'keystone',
    user_id: 'u',
    user_name: 'n',
    project_id: 'p',
    system_scope: null,
    domain_id: null,
  };

  test.each([
    ['strategy', 'http_basic'],
    ['user_id', 'other'],
    ['project_id', 'other'],
    ['system_scope', 'all'],
    ['domain_id', 'other'],
  ])('another %s is another caller', (name, value) => {
    expect(callerKey({ ...known, [name]: value } as never)).not.toBe(callerKey(known as never));
  });

  test('the name counts where there is no id, and only there', () => {
    const nameless = { ...known, user_id: null };
    expect(callerKey({ ...nameless, user_name: 'other' } as never)).not.toBe(callerKey(nameless as never));
    expect(callerKey({ ...known, user_name: 'other' } as never)).toBe(callerKey(known as never));
  });
});
