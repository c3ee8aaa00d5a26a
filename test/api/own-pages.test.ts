/** Markers that are ids of records: which faults of a look-up are the marker's. */
import { markedRecord } from '../../src/api/resource/own-pages';
import { raise } from '../../src/model/errors';

const found = async (ident: string) => ({ ident });

test('no marker is no record, and nothing is looked up', async () => {
  expect(await markedRecord(undefined, 'RolloutNotFound', () => raise('Unexpected'))).toBeUndefined();
});

test('a record that is found is the one after which the page begins', async () => {
  expect(await markedRecord('a', 'RolloutNotFound', found)).toEqual({ ident: 'a' });
});

test('a record that is missing or hidden is no marker', async () => {
  const asked = markedRecord('a', 'RolloutNotFound', async () => raise('RolloutNotFound', { rollout: 'a' }));
  await expect(asked).rejects.toMatchObject({ code: 'MarkerNotFound', facts: { marker: 'a' } });
});

test('a store that does not answer is not a marker that is missing', async () => {
  const away = new Error('the store is away');
  await expect(markedRecord('a', 'RolloutNotFound', () => Promise.reject(away))).rejects.toBe(away);
});
