/** Markers that are ids of records: which faults of a look-up are the marker's. */
import { markedRecord, unless } from '../../src/api/resource/own-pages';
import { raise } from '../../src/model/errors';

const found = async (ident: string) => ({ ident });

test('no marker is no record, and nothing is looked up', async () => {
  expect(await markedRecord(undefined, () => raise('Unexpected'))).toBeUndefined();
});

test('a record that is found is the one after which the page begins', async () => {
  expect(await markedRecord('a', found)).toEqual({ ident: 'a' });
  expect(await markedRecord('a', unless('RolloutNotFound', found))).toEqual({ ident: 'a' });
});

test.each([
  ['returns nothing', async () => undefined],
  ['throws', unless('RolloutNotFound', async () => raise('RolloutNotFound', { rollout: 'a' }))],
])('a record that is missing or hidden is no marker: the look-up %s', async (_, find) => {
  await expect(markedRecord('a', find)).rejects.toMatchObject({ code: 'MarkerNotFound', facts: { marker: 'a' } });
});

test('a store that does not answer is not a marker that is missing', async () => {
  const away = new Error('the store is away');
  const find = () => Promise.reject(away);
  await expect(markedRecord('a', find)).rejects.toBe(away);
  await expect(markedRecord('a', unless('RolloutNotFound', find))).rejects.toBe(away);
});
