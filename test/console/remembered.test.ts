/** Kept answers: for their session alone, for a time, and only while the rules answer the caller alike. */
import { rememberedBy } from '../../src/console/server/remembered';

type World = { allowed: boolean; asked: number };

const pageIn = (world: World, id: string, partial = false) => {
  const api = {
    ask: async (_path: string, { asks }: { asks: readonly { rule: string }[] }) => ({
      answers: asks.map(({ rule }) => ({ rule, allowed: world.allowed, reason: null })),
    }),
    find: async () => {
      world.asked += 1;
      return { answer: world.asked };
    },
  };
  return rememberedBy({ api, session: { id }, partial } as never);
};

const report = (world: World, id: string) => pageIn(world, id).report('/reports', { by: 'verb' });
const countOf = async (world: World, id: string, partial = false) => {
  const page = pageIn(world, id, partial);
  const found = await page.find('/summary');
  page.keep();
  return { found, isOld: page.isOld };
};

test('a report is asked once for each session, and anew after a right has changed', async () => {
  const world = { allowed: true, asked: 0 };
  expect(await Promise.all([report(world, 'reports-1'), report(world, 'reports-1')])).toEqual([{ answer: 1 }, { answer: 1 }]); // biome-ignore format: one row
  expect(await report(world, 'reports-2')).toEqual({ answer: 2 });
  world.allowed = false;
  expect(await report(world, 'reports-1')).toEqual({ answer: 3 });
  expect(await report(world, 'reports-1')).toEqual({ answer: 3 });
});

test('counts are old on the next load only, and never after a right has changed', async () => {
  const world = { allowed: true, asked: 0 };
  expect(await countOf(world, 'counts')).toEqual({ found: { answer: 1 }, isOld: false });
  expect(await countOf(world, 'counts')).toEqual({ found: { answer: 1 }, isOld: true });
  expect(await countOf(world, 'counts', true)).toEqual({ found: { answer: 2 }, isOld: false });
  world.allowed = false;
  expect(await countOf(world, 'counts')).toEqual({ found: { answer: 3 }, isOld: false });
});
