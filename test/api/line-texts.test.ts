/** A page that PostgreSQL writes holds what the API shows of each row. What needs no change passes as it came. */
import { constants } from 'node:buffer';
import type { Shown } from '../../src/api/resource/shown';
import { nodeProjections } from '../../src/api/v1/nodes/representation';
import { givenBase } from '../../src/inventory/lines';
import type { NodeUuid } from '../../src/model/ids';
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
const noDocuments = {
  fields: nodeTable.fields
    .filter(({ type, column }) => column === null || !['object', 'list'].includes(type))
    .map(({ name }) => name),
};
const versions = [1, 2, 10, 38, 39, 50, 75, 95, maxMinor];

const asObjects = async (minor: number, form: object, shown: Shown): Promise<string> => {
  const { represent } = nodeProjections.ofList(minor, form);
  const uuids = await api.sql<{ uuid: NodeUuid }[]>`select uuid from nodes order by id`;
  const rows = await Promise.all(uuids.map(({ uuid }) => api.inventory.nodes.find({ uuid })));
  return rows.map((row) => JSON.stringify(represent(row as never, shown))).join(',');
};

const asLines = async (minor: number, form: object, shown: Shown) => {
  const lines = nodeProjections.ofList(minor, form).lines(shown)!;
  const inJson = JSON.stringify(shown.base).slice(1, -1);
  const written = await api.inventory.nodes.lines(lines.line, inJson, all, page);
  return { written, settled: lines.settle(written.pieces, shown) };
};

describe.each(Object.entries(viewers))('nodes to %s', (_name, shown) => {
  test.each(Object.entries(forms))('%s: the same in every version', async (_form, form) => {
    for (const minor of versions) {
      const { settled } = await asLines(minor, form, shown);
      // PostgreSQL prints documents with blanks.
      const text = JSON.stringify(JSON.parse(`[${Buffer.concat([...settled])}]`)).slice(1, -1);
      expect({ minor, text }).toEqual({ minor, text: await asObjects(minor, form, shown) });
    }
  });

  test('all but documents: the same bytes in every version', async () => {
    for (const minor of versions) {
      const { settled } = await asLines(minor, noDocuments, shown);
      const text = Buffer.concat([...settled]).toString();
      expect({ minor, text }).toEqual({ minor, text: await asObjects(minor, noDocuments, shown) });
    }
  });

  test('default fields are not read: what came is what is sent', async () => {
    const { written, settled } = await asLines(maxMinor, forms.default, shown);
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

test('the base of links is a parameter, whatever a request names as its host', async () => {
  const statement = api.sql`select given.base from (select 1) one ${givenBase(api.sql, "'; drop table nodes; --")}`;
  expect(await statement).toEqual([{ base: "'; drop table nodes; --" }]);
});
