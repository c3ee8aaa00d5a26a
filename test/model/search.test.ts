/** What a searched text is taken for. */
import { asUuid, uuidsFrom } from '../../src/model/ids';
import { searchTerm } from '../../src/model/search';

test.each([
  ['52:54:00', '52:54:00'],
  ['52-54-00-1', '52:54:00:1'],
  ['5254.001A.2b3c', '52:54:00:1a:2b:3c'],
  ['DEADBE', 'de:ad:be'],
  ['525', undefined],
  ['52:54:00:00:00:00:00', undefined],
  ['bmc-1', undefined],
  ['....', undefined],
])('%s is the beginning of the address %s', (text, address) => {
  expect(searchTerm(text).address).toBe(address);
});

test.each(['0b64', '0b646ce1', '0b646ce1-', '0B646CE1-6c0b-4', '0b646ce1-6c0b-4d0a-8f0e-7e5a3f2d9c1'])(
  '%s is the beginning of UUIDs, all of which begin so',
  (text) => {
    const { lowest, highest } = searchTerm(text).uuids!;
    for (const one of [lowest, highest]) expect(one.startsWith(text.toLowerCase())).toBe(true);
    expect(lowest < highest).toBe(true);
  },
);

test('a whole UUID in any spelling is one, and short or odd texts are none', () => {
  const whole = '0b646ce1-6c0b-4d0a-8f0e-7e5a3f2d9c11';
  for (const text of [whole, whole.replaceAll('-', ''), `{${whole.toUpperCase()}}`, ` urn:uuid:${whole} `])
    expect(searchTerm(text).uuids).toEqual({ lowest: whole, highest: whole });
  for (const text of ['0b6', '0b64x', '0b646ce16', `${whole}0`, '-'.repeat(36), 'node'])
    expect(searchTerm(text).uuids).toBeUndefined();
  expect(asUuid(uuidsFrom('')!.highest)).toBe('ffffffff-ffff-ffff-ffff-ffffffffffff');
});
