/** A page that the store writes is, byte for byte, what the API writes of its rows; what needs no change passes as it came. */
import { constants } from 'node:buffer';
import type { ListAsked } from '../../src/api/resource/lists';
import { answerPage } from '../../src/api/resource/lists';
import type { Shown } from '../../src/api/resource/shown';
import { createTextBytes } from '../../src/api/resource/text-bytes';
import { nodeProjections } from '../../src/api/v1/nodes/representation';
import { givenBase } from '../../src/inventory/lines';
import { always } from '../../src/model/predicates';
import { maxMinor } from '../../src/model/resources/microversions';
import { nodeTable } from '../../src/model/resources/nodes';
import { startTestApi, type TestApi } from '../support/api';
import { fillOddRows, oddText } from '../support/odd-rows';
import { lessee, owner } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await fillOddRows(api);
  const values = { name: 'stepping', driver: 'fake-hardware', owner, lessee, clean_step: { a: 1, password: 'p' } };
  await api.sql`insert into nodes ${api.sql({ ...values, clean_step: api.sql.json(values.clean_step) } as never)}`;
});
afterAll(() => api.close());

const all = { visible: always, filter: always };
const base = `https://api.example/"${oddText}"`;
const asked: ListAsked = { limit: 1_000, sort_key: 'id', sort_dir: 'asc', detail: true, filters: {} };
const page = { limit: 1_000, sort_key: 'id', sort_dir: 'asc' } as const;

/** Viewers, by what is hidden from them. */
const viewers: Readonly<Record<string, Shown>> = {
  'one who sees everything': { base },
  'one who sees no field that may be hidden': { base, hides: () => true },
  'one who sees those of its own': { base, hides: (_rule, row) => row.owner !== owner },
  'one who sees those that no project leases': { base, hides: (_rule, row) => row.lessee !== null },
};

const chosen = ['uuid', 'driver_info', 'reservation', 'maintenance_reason', 'clean_step', 'conductor', 'updated_at'];
const forms = {
  default: {},
  detailed: { detail: true },
  chosen: { fields: chosen },
  'two fields': { fields: ['uuid', 'name'] },
};

const byRows = async (minor: number, form: object, shown: Shown): Promise<string> => {
  const texts = nodeProjections.ofList(minor, form).texts();
  const text = createTextBytes();
  const write = (values: readonly unknown[]): void => text.add(`,${texts.write(values, shown)}`);
  await api.inventory.nodes.list(texts.columns, all, page, { ofValues: write });
  return text.bytes().toString().slice(1);
};

const byStore = async (minor: number, form: object, shown: Shown) => {
  const lines = nodeProjections.ofList(minor, form).lines(shown)!;
  const inJson = JSON.stringify(shown.base).slice(1, -1);
  const written = await api.inventory.nodes.lines(lines.line, inJson, all, page);
  return { written, settled: lines.settle(written.pieces, shown) };
};

describe.each(Object.entries(viewers))('nodes to %s', (_name, shown) => {
  test.each(Object.entries(forms))('%s: the same bytes in every version', async (_form, form) => {
    for (const minor of [1, 2, 10, 38, 39, 50, 75, 95, maxMinor]) {
      const { settled } = await byStore(minor, form, shown);
      expect({ minor, text: Buffer.concat([...settled]).toString() }).toEqual({
        minor,
        text: await byRows(minor, form, shown),
      });
    }
  });

  test('default fields are not read: what came is what is sent', async () => {
    const { written, settled } = await byStore(maxMinor, forms.default, shown);
    expect(settled).toBe(written.pieces);
  });
});

test('a page that is settled in parts is the same bytes, wherever it is cut', async () => {
  for (const shown of Object.values(viewers)) {
    const { line, settle } = nodeProjections.ofList(maxMinor, { detail: true }).lines(shown)!;
    const { pieces } = await api.inventory.nodes.lines(line, JSON.stringify(base).slice(1, -1), all, page);
    const whole = Buffer.concat([...settle(pieces, shown)]);
    for (const atOnce of [0, 1, 100, 2_000, 10_000])
      expect(Buffer.concat([...settle(pieces, shown, atOnce)]).equals(whole)).toBe(true);
  }
});

test('a page that is longer than any text of JavaScript is settled', () => {
  const { settle } = nodeProjections.ofList(maxMinor, { fields: ['driver_info'] }).lines({ base })!;
  const piece = Buffer.alloc(constants.MAX_STRING_LENGTH + 1);
  const held = piece.write('\u0001#{"password": "p"}\u0002');
  const [first, rest] = settle([piece], { base });
  expect(first!.toString()).toBe('{"password":"******"}');
  expect(rest!.length).toBe(piece.length - held);
});

test('a page says how many there are, and after which the next begins', async () => {
  const { line } = nodeProjections.ofList(maxMinor, {}).lines({ base })!;
  const wanted = await api.sql<{ uuid: string }[]>`select uuid from nodes order by id`;
  const first = await api.inventory.nodes.lines(line, base, all, { ...page, limit: 3 });
  expect(first).toMatchObject({ count: 3, last: wanted[2]!.uuid });
  const rest = await api.inventory.nodes.lines(line, base, all, { ...page, marker: first.last! });
  expect(rest).toMatchObject({ count: wanted.length - 3, last: wanted.at(-1)!.uuid });
  const after = await api.inventory.nodes.lines(line, base, all, { ...page, marker: rest.last! });
  expect(after).toEqual({ pieces: [], count: 0, last: undefined, cut: false });
});

test('a page of two stretches is one list', async () => {
  for (const sort_dir of ['asc', 'desc'] as const) {
    const sorted = { limit: 2, sort_key: 'maintenance_reason', sort_dir };
    const names: string[] = [];
    let marker: string | undefined;
    for (let count = 2; count === 2; ) {
      const query = `sort_key=${sorted.sort_key}&sort_dir=${sort_dir}&limit=2${marker ? `&marker=${marker}` : ''}`;
      const { body } = await api.as('operator', 'GET', `/v1/nodes?${query}&fields=uuid,name`);
      count = body.nodes.length;
      names.push(...body.nodes.map(({ name }: { name: string }) => name));
      marker = body.nodes.at(-1)?.uuid;
    }
    const whole = await api.as('operator', 'GET', `/v1/nodes?sort_key=${sorted.sort_key}&sort_dir=${sort_dir}`);
    expect(names).toEqual(whole.body.nodes.map(({ name }: { name: string }) => name));
  }
});

test('a page that is too long for one text is written row by row', async () => {
  const projection = nodeProjections.ofList(maxMinor, {});
  const { nodes } = api.inventory;
  const store = {
    list: (columns: Parameters<typeof nodes.list>[0], take: { ofValues: (values: readonly unknown[]) => string }) =>
      nodes.list(columns, all, page, take),
    // PostgreSQL's own refusal of a text of that length.
    lines: async () => {
      await api.sql`select repeat('x', ${2 ** 30 + 1}::int)`;
      throw new Error('it was written all the same');
    },
  };
  const { bytes } = await answerPage(nodeTable, asked, { projection, shown: { base }, path: 'nodes' }, store);
  const body = JSON.parse(Buffer.concat([...bytes!]).toString());
  expect(body.nodes).toHaveLength((await api.sql`select from nodes`).length);
});

test('the base of links is a parameter, whatever a request names as its host', async () => {
  const statement = api.sql`select given.base from (select 1) one ${givenBase(api.sql, "'; drop table nodes; --")}`;
  expect(await statement).toEqual([{ base: "'; drop table nodes; --" }]);
});
