/** A handler is held to the schemas of its route by the compiler: each expected error here is one that `tsc` must find. */
import { z } from 'zod';
import { created, noContent, ok, route } from '../../src/api/server/route';

const one = z.strictObject({ name: z.string(), count: z.int().nullable() });
const about = { method: 'GET', path: '/one', rules: 'public' } as const;

test('answers that their schema does not describe do not compile', () => {
  const routes = [
    route({ ...about, answers: { 200: one }, handler: async () => ok({ name: 'a', count: null }) }),
    route({ ...about, answers: { 201: one, 204: null }, handler: async () => noContent() }),
    // @ts-expect-error a field is missing
    route({ ...about, answers: { 200: one }, handler: async () => ok({ name: 'a' }) }),
    // @ts-expect-error a field has another type
    route({ ...about, answers: { 201: one }, handler: async () => created({ name: 'a', count: '1' }, '/one') }),
    // @ts-expect-error an optional value of the database is required on the wire
    route({ ...about, answers: { 200: one }, handler: async () => ok({ name: null as string | null, count: 1 }) }),
  ];
  expect(routes.map(({ path }) => path)).toEqual(Array(5).fill('/one'));
});
