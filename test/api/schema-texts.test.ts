/** What a schema refuses is said in plain words: the field, what may come, and what came. */
import { z } from 'zod';
import { issueText } from '../../src/api/body/schema-texts';
import { faultOf, startTestApi, type TestApi } from '../support/api';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const textOf = (schema: z.ZodType, value: unknown): string => issueText(schema.safeParse(value).error!.issues[0]!);

test.each([
  ['must be one of bios, raid', z.enum(['bios', 'raid']), 'raid0'],
  ['must be 2', z.literal(2), 3],
  ['must be a string, not a number', z.string(), 7],
  ['must be true or false, not a string', z.boolean(), 'yes'],
  ['must be a list, not an object', z.array(z.string()), {}],
  ['must be an object, not null', z.object({}), null],
  ['must be a whole number', z.int(), 1.5],
  ['must have at least 1 character', z.string().min(1), ''],
  ['must have at most 2 items', z.array(z.number()).max(2), [1, 2, 3]],
  ['must be at least 3', z.number().min(3), 2],
  ['must be less than 3', z.number().lt(3), 3],
  ['must be a valid uuid', z.uuid(), 'x'],
  ['has no field b', z.strictObject({ a: z.string().optional() }), { b: 1 }],
  ['has none of the forms that it may have', z.union([z.object({}), z.array(z.string())]), 3],
  ['is ours', z.string({ error: 'is ours' }), 3],
])('%s', (says, schema, value) => expect(textOf(schema, value)).toBe(says));

test.each([
  [
    'POST',
    '/v1/runbooks',
    { name: 'CUSTOM_A', steps: [{ interface: 'tape', step: 'x', args: {}, order: 1 }] },
    /interface.*must be one of .*bios/,
  ],
  ['PUT', '/v1/nodes/n/states/provision', { target: 5 }, /target.*(must be|5)/],
])('%s %s has no word of the library', async (method, path, body, says) => {
  const reply = await api.as('operator', method, path, { body });
  expect(reply.status).toBe(400);
  expect(faultOf(reply)).toMatch(says);
  expect(faultOf(reply)).not.toMatch(/Invalid (option|input)|expected/);
});
