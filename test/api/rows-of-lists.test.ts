/** Rows of a list are the objects that are shown one by one, though their documents pass from the store to the wire as text. */
import fc from 'fast-check';
import { maskDocument, masked, maskSecrets } from '../../src/model/access/secrets';
import { startTestApi, type TestApi } from '../support/api';
import { oddDocuments as documents, fillOddRows } from '../support/odd-rows';
import { type Persona, personas } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await fillOddRows(api);
});
afterAll(() => api.close());

const collections = [
  ['/v1/nodes', 'nodes'],
  ['/v1/ports', 'ports'],
  ['/v1/portgroups', 'portgroups'],
  ['/v1/volume/targets', 'targets'],
  ['/v1/chassis', 'chassis'],
  ['/v1/allocations', 'allocations'],
  ['/v1/runbooks', 'runbooks'],
  ['/v1/deploy_templates', 'deploy_templates'],
  ['/v1/inspection_rules', 'inspection_rules'],
] as const;
const undetailed = ['allocations', 'inspection_rules'];

const versions = [1, 30, 60, 92, 115];

/** The list in detail, and beside it what each of its rows is shown as alone. */
const both = async (who: Persona, minor: number, path: string, collection: string) => {
  const detail = undetailed.includes(collection) ? '' : minor < 43 ? '/detail' : '?detail=true';
  const list = await api.as(who, 'GET', `${path}${detail}`, { minor });
  if (list.status !== 200) return { status: list.status, rows: [], shown: [] };
  const rows = list.body[collection] as Readonly<Record<string, unknown>>[];
  const shown = await Promise.all(rows.map(({ uuid }) => api.as(who, 'GET', `${path}/${uuid}`, { minor })));
  return { status: 200, rows, shown: shown.map(({ body }) => body) };
};

describe.each(collections)('%s', (path, collection) => {
  test.each(['operator', 'owner-member', 'lessee-reader'] as const)(
    'in detail to %s are what each is shown as',
    async (who) => {
      for (const minor of versions) {
        const { rows, shown } = await both(who, minor, path, collection);
        // A version that shows a list without details shows fewer fields there.
        const kept = rows.map((row, at) =>
          Object.fromEntries(Object.keys(row).map((name) => [name, shown[at]![name]])),
        );
        expect({ minor, rows }).toEqual({ minor, rows: kept });
      }
    },
  );

  test('and their fields stand in the same order', async () => {
    const { rows, shown } = await both('operator', 115, path, collection);
    expect(rows.length).toBeGreaterThan(0);
    for (const [at, row] of rows.entries()) {
      const names = Object.keys(row);
      expect(names).toEqual(Object.keys(shown[at]!).filter((name) => names.includes(name)));
    }
  });
});

test('chosen fields are those of the whole row', async () => {
  const { body: whole } = await api.as('operator', 'GET', '/v1/nodes?detail=true');
  const fields = [
    'uuid',
    'driver_info',
    'conductor',
    'provision_updated_at',
    'clean_step',
    'maintenance_reason',
    'traits',
  ];
  const { body } = await api.as('operator', 'GET', `/v1/nodes?fields=${fields.join(',')}`);
  expect(body.nodes).toEqual(
    whole.nodes.map((row: Record<string, unknown>) =>
      Object.fromEntries([...fields, 'links'].map((name) => [name, row[name]])),
    ),
  );
});

const choices = [
  'uuid',
  'extra,name',
  'driver_info,uuid',
  'instance_info,properties,driver_internal_info',
  'clean_step,reservation,last_error,maintenance_reason,owner',
  'provision_state,updated_at,provision_updated_at,inspection_started_at,raid_config',
];

test.each(Object.keys(personas) as Persona[])(
  'chosen fields are to %s what they are of each, by every policy',
  async (who) => {
    for (const set of ['temper', 'ironic'] as const) {
      // As a reload between two requests does it.
      api.setPolicy({ set });
      for (const minor of [8, 53, 115])
        for (const fields of choices) {
          const { status, body } = await api.as(who, 'GET', `/v1/nodes?fields=${fields}`, { minor });
          const rows: { links: { href: string }[] }[] = status === 200 ? body.nodes : [];
          const shown = rows.map(({ links: [self] }) =>
            api.as(who, 'GET', `${new URL(self!.href).pathname}?fields=${fields}`, { minor }),
          );
          const alone = (await Promise.all(shown)).map((reply) => JSON.stringify(reply.body));
          expect({ set, minor, rows: rows.map((row) => JSON.stringify(row)) }).toEqual({ set, minor, rows: alone });
        }
    }
    api.setPolicy({ set: 'temper' });
  },
);

test('no secret leaves with a document that was not parsed', async () => {
  for (const who of ['operator', 'owner-member'] as const) {
    const { text } = await api.as(
      who,
      'GET',
      '/v1/nodes?fields=driver_info,instance_info,driver_internal_info,clean_step',
    );
    expect(text).not.toMatch(/hunter2|shown to nobody|me:mine|=abc|=def|\$secret": *"[0-9a-f]{8}-/);
    expect(text).toContain(masked);
  }
});

describe('a document that is masked as text', () => {
  const printed = async (document: unknown): Promise<string> => {
    const [row] = await api.sql<{ text: string }[]>`select ${api.sql.json(document as never)}::jsonb::text as text`;
    return row!.text;
  };

  test('is what it is masked as', async () => {
    for (const document of documents) {
      const text = await printed(document);
      expect(JSON.parse(maskDocument(text))).toEqual(maskSecrets(JSON.parse(text)));
    }
  });

  // The words of secrets among others, in any case, and what stands around them in texts, URLs and references.
  const word = fc.constantFrom(
    'password',
    'TOKEN',
    'sig',
    '://',
    '@',
    ':',
    '=',
    ' ',
    '"',
    '\\',
    '?',
    'a',
    'K',
    'passwd',
    '$secret',
    '{',
    '}',
  );
  const text = fc.array(word, { maxLength: 8 }).map((words) => words.join(''));
  const reference = fc.uuid().map(($secret) => ({ $secret }));
  const { document } = fc.letrec((tie) => ({
    document: fc.oneof(
      { maxDepth: 3 },
      text,
      reference,
      fc.constantFrom(null, 1, true, ''),
      fc.array(tie('document'), { maxLength: 3 }),
      fc.dictionary(fc.oneof(text, fc.constantFrom('$secret', 'name', 'value')), tie('document'), { maxKeys: 3 }),
    ),
  }));

  test('is what it is masked as, whatever it holds', () => {
    // PostgreSQL prints a blank after each colon and comma outside of texts.
    const print = (value: unknown): string => {
      if (Array.isArray(value)) return `[${value.map(print).join(', ')}]`;
      if (typeof value !== 'object' || value === null) return JSON.stringify(value);
      return `{${Object.entries(value)
        .map(([key, inner]) => `${JSON.stringify(key)}: ${print(inner)}`)
        .join(', ')}}`;
    };
    fc.assert(
      fc.property(document, (value) => {
        expect(JSON.parse(maskDocument(print(value)))).toEqual(maskSecrets(value));
      }),
      { numRuns: 3_000 },
    );
  });
});
