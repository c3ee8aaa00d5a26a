/** Rows of a list are the objects that are shown one by one, though their documents pass from the store to the wire as text. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { createTextBytes } from '../../src/api/resource/text-bytes';
import { maskDocument, masked, maskSecrets } from '../../src/model/access/secrets';
import { startTestApi, type TestApi } from '../support/api';
import { lessee, owner, type Persona } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await fill();
});
afterAll(() => api.close());

const odd = 'quotes " and \\ and \u0001 and \u007f and \u2028, ä, 日本, 😀';
const documents: readonly object[] = [
  {},
  { plain: 'text', list: [1, 2.5, -0.1, 1e21, true, null, []], 10: 'ten', 9: 'nine', '': 'no name' },
  { [odd]: odd, deep: { deeper: [{ deepest: odd }] } },
  { redfish_address: 'https://bmc.example', redfish_username: 'root', redfish_password: { $secret: randomUUID() } },
  { image_source: 'https://me:mine@images.example/a.iso', note: 'the PassWord = hunter2, more' },
  { ToKEN: 'not shown', kept: '{"$secret": "not one"}' },
  {
    settings: [
      { name: 'AdminPassword', value: 'x' },
      { name: 'BootMode', value: 'uefi' },
    ],
  },
  { link: 'https://a.example/?X-Amz-Signature=abc&sig=def', half: { $secret: 7 }, both: { $secret: 'a', other: 1 } },
];

const writeNode = async (document: object, nth: number): Promise<void> => {
  const json = api.sql.json(document as never);
  const columns = {
    name: `n${nth}`,
    driver: 'fake-hardware',
    driver_info: json,
    driver_internal_info: json,
    instance_info: json,
    properties: json,
    extra: json,
    network_data: json,
    raid_config: nth % 2 === 0 ? null : json,
    clean_step: nth % 2 === 0 ? null : json,
    traits: nth % 3 === 0 ? [] : ['CUSTOM_A', 'CUSTOM_B'],
    description: nth % 2 === 0 ? odd : null,
    maintenance: nth % 2 === 0,
    maintenance_reason: nth % 2 === 0 ? `the BMC at https://10.1.2.3 (10.1.2.3) said ${odd}` : null,
    last_error: nth % 3 === 0 ? odd : null,
    owner: nth % 2 === 0 ? owner : null,
    lessee: nth % 3 === 0 ? lessee : null,
    provision_updated_at: ['2026-01-02 03:04:05.678901+00', '2026-01-02 03:04:05+02', '2026-01-02 03:04:05.1+00'][
      nth % 3
    ]!,
    inspection_started_at: nth % 2 === 0 ? null : '2026-12-31 23:59:59.000999+00',
  };
  const [node] = await api.sql`insert into nodes ${api.sql(columns as never)} returning uuid`;
  const port = { node_uuid: node!.uuid, address: `52:54:00:00:00:0${nth}`, extra: json, internal_info: json };
  await api.sql`insert into ports ${api.sql(port as never)}`;
  const group = { node_uuid: node!.uuid, name: `g${nth}`, extra: json, properties: json };
  await api.sql`insert into portgroups ${api.sql(group as never)}`;
  const target = { node_uuid: node!.uuid, volume_type: 'iscsi', volume_id: `${nth}`, boot_index: 0, properties: json };
  await api.sql`insert into volume_targets ${api.sql(target as never)}`;
  const allocation = { name: `a${nth}`, resource_class: 'x', extra: json, candidate_nodes: [node!.uuid], owner };
  await api.sql`insert into allocations ${api.sql(allocation as never)}`;
  await api.sql`insert into chassis ${api.sql({ description: odd, extra: json } as never)}`;
};

const step = (args: object) => ({ interface: 'power', step: 'reboot', args });

const fill = async (): Promise<void> => {
  for (const [nth, document] of documents.entries()) await writeNode(document, nth);
  const made = [
    ['/v1/runbooks', { name: 'CUSTOM_R', extra: { odd }, steps: [{ ...step({ password: 'p', odd }), order: 1 }] }],
    ['/v1/deploy_templates', { name: 'CUSTOM_T', steps: [{ ...step({ odd }), priority: 1 }] }],
    ['/v1/inspection_rules', { description: odd, actions: [{ op: 'fail', args: { msg: odd } }] }],
  ] as const;
  for (const [path, body] of made) expect((await api.as('operator', 'POST', path, { body })).status).toBe(201);
};

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

test('a long text is the same bytes, whatever was guessed', () => {
  for (const guess of [0, 10, 100_000]) {
    const text = createTextBytes(guess);
    const parts = Array.from({ length: 3_000 }, (_, at) => `${at} ${odd} `);
    for (const part of parts) text.add(part);
    expect(text.bytes().toString()).toBe(parts.join(''));
  }
});
