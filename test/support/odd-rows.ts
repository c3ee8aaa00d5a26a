/** Rows with what is hard to write as JSON, to mask, or to hide: documents with secrets and references, odd texts, times with parts of a second. */
import { randomUUID } from 'node:crypto';
import type { TestApi } from './api';
import { lessee, owner } from './world';

export const oddText = 'quotes " and \\ and \u0001 and \u007f and \u2028, ä, 日本, 😀';
export const oddDocuments: readonly object[] = [
  {},
  { plain: 'text', list: [1, 2.5, -0.1, 1e21, true, null, []], 10: 'ten', 9: 'nine', '': 'no name' },
  { [oddText]: oddText, deep: { deeper: [{ deepest: oddText }] } },
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
  // As text: a literal would make a prototype of the first key.
  JSON.parse(`{"__proto__": {"password": "hunter2", "kept": 1}, "constructor": {"prototype": {}}, "toString": "t",
    "numbers": [9223372036854775808, -9223372036854775809, 5e-324, 1.7976931348623157e308, -0, 0.10, 1e-7],
    "marks": "\\u0001!\\u0002 \\u0001#[]\\u0002", "\\u0001!\\u0002": "\\u0001$\\u0002"}`),
  {
    'to\u212aen': 'hunter2',
    'k=v': 'line\nsecret=hunter2',
    'a:b': '\tpassword: "hunter2 of two words"',
    list: [['HTTPS://me:hunter2@h/p'], [{ name: 'TOKEN', value: ['hunter2', { a: 'hunter2' }] }]],
    parameters: { password: { $param: 'a' }, secret: '', passphrase: null, token: 0, configdrive: [] },
  },
];

const writeNode = async (api: TestApi, document: object, nth: number): Promise<void> => {
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
    description: nth % 2 === 0 ? oddText : null,
    maintenance: nth % 2 === 0,
    maintenance_reason: nth % 2 === 0 ? `the BMC at https://10.1.2.3 (10.1.2.3) said ${oddText}` : null,
    last_error: nth % 3 === 0 ? oddText : null,
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
  await api.sql`insert into chassis ${api.sql({ description: oddText, extra: json } as never)}`;
};

const step = (args: object) => ({ interface: 'power', step: 'reboot', args });

/** A row of every kind whose list is written as text, with values that are hard to write. */
export const fillOddRows = async (api: TestApi): Promise<void> => {
  for (const [nth, document] of oddDocuments.entries()) await writeNode(api, document, nth);
  const made = [
    [
      '/v1/runbooks',
      { name: 'CUSTOM_R', extra: { oddText }, steps: [{ ...step({ password: 'p', oddText }), order: 1 }] },
    ],
    ['/v1/deploy_templates', { name: 'CUSTOM_T', steps: [{ ...step({ oddText }), priority: 1 }] }],
    ['/v1/inspection_rules', { description: oddText, actions: [{ op: 'fail', args: { msg: oddText } }] }],
  ] as const;
  for (const [path, body] of made) expect((await api.as('operator', 'POST', path, { body })).status).toBe(201);
};
