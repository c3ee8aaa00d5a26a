/** What the documents for owners and lessees say about rules: every policy in them loads and does what is said of it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  createPolicy,
  nodeTarget,
  type PersonaName,
  personas,
  type RuleSetName,
  readPolicy,
  runbookTarget,
  type Target,
} from '../../src/policy';
import { blocksOf, headingsOf, linksOf, partOf, readDocument, tableOf } from '../support/documents';

const documents = ['docs/tenants.md', 'docs/threat-model.md'] as const;
type Document = (typeof documents)[number];

const setIn = (text: string): RuleSetName => {
  const set = /^# set: (temper|closed|ironic)$/m.exec(text)?.[1];
  if (!set) throw new Error(`this policy does not say which set it is for:\n${text}`);
  return set as RuleSetName;
};

/** The policies of a part. Those for set `closed` are pieces of one file. */
const filesOf = (part: string): string[] => {
  const blocks = blocksOf(part, 'yaml');
  const pieces = blocks.filter((text) => setIn(text) === 'closed');
  const whole = blocks.filter((text) => setIn(text) !== 'closed');
  return pieces.length > 0 ? [pieces.join(''), ...whole] : whole;
};

const load = (text: string) => createPolicy({ set: setIn(text), ...readPolicy(text, 'document.yaml') });

const every = documents.flatMap((document) => {
  const text = readDocument(document);
  return headingsOf(text).flatMap((heading) =>
    filesOf(partOf(text, heading)).map((file, index) => [document, heading, index, file] as const),
  );
});

test.each(every)('%s, %s, policy %i loads in strict mode without a warning', (_document, _heading, _index, file) => {
  expect(load(file).warnings).toEqual([]);
});

const targets = {
  node: nodeTarget({ owner: 'project-owner', lessee: 'project-lessee' }),
  'own runbook': runbookTarget({ owner: 'project-lessee', public: false }),
  'public runbook': runbookTarget({ owner: null, public: true }),
  nothing: {},
} as const satisfies Record<string, Target>;

const opening = 'Opening a closed API';
const steps = 'Combined steps';
const traits = 'Traits as an approval';
const tenants = 'docs/tenants.md';
const threats = 'docs/threat-model.md';

type Cell = readonly [Document, string, number, PersonaName, string, keyof typeof targets, boolean];
const cells: readonly Cell[] = [
  [tenants, opening, 0, 'owner-member', 'baremetal:node:get', 'node', true],
  [tenants, opening, 0, 'lessee-reader', 'baremetal:node:get', 'node', true],
  [tenants, opening, 0, 'stranger-admin', 'baremetal:node:get', 'node', false],
  [tenants, opening, 0, 'owner-reader', 'baremetal:node:update', 'node', false],
  [tenants, opening, 0, 'lessee-admin', 'baremetal:node:update', 'node', false],
  [tenants, opening, 0, 'owner-member', 'baremetal:node:update', 'node', true],
  [tenants, opening, 0, 'system-member', 'baremetal:node:update', 'node', true],
  [tenants, opening, 0, 'lessee-member', 'baremetal:node:set_provision_state', 'node', true],
  [tenants, opening, 0, 'stranger-admin', 'baremetal:node:set_provision_state', 'node', false],
  [tenants, opening, 0, 'stranger-admin', 'baremetal:port:get', 'node', false],
  [tenants, opening, 0, 'owner-admin', 'baremetal:allocation:create', 'nothing', false],
  [tenants, opening, 0, 'owner-member', 'baremetal:allocation:create_restricted', 'nothing', true],
  [tenants, opening, 0, 'owner-reader', 'baremetal:allocation:create_restricted', 'nothing', false],
  [tenants, opening, 0, 'lessee-member', 'temper:node:run_runbook', 'node', true],
  [tenants, opening, 0, 'lessee-reader', 'baremetal:runbook:get', 'public runbook', true],
  [tenants, opening, 0, 'lessee-member', 'baremetal:runbook:use', 'public runbook', true],
  [tenants, opening, 0, 'lessee-member', 'baremetal:runbook:use', 'own runbook', true],
  [tenants, opening, 0, 'lessee-reader', 'baremetal:runbook:use', 'public runbook', false],
  [tenants, opening, 0, 'owner-admin', 'baremetal:runbook:get', 'own runbook', false],
  [tenants, opening, 0, 'owner-admin', 'baremetal:runbook:use', 'own runbook', false],
  [tenants, opening, 0, 'system-member', 'baremetal:runbook:use', 'own runbook', true],
  [tenants, opening, 0, 'lessee-admin', 'baremetal:runbook:create', 'nothing', false],
  [threats, steps, 0, 'owner-admin', 'baremetal:step:execute:firmware.update', 'node', false],
  [threats, steps, 0, 'lessee-admin', 'baremetal:step:execute:management.attach_virtual_media', 'node', false],
  [threats, steps, 0, 'system-member', 'baremetal:step:execute:firmware.update', 'node', true],
  [threats, steps, 1, 'lessee-admin', 'baremetal:runbook:create', 'nothing', false],
  [threats, steps, 1, 'lessee-admin', 'baremetal:runbook:use', 'own runbook', false],
  [threats, steps, 1, 'lessee-member', 'baremetal:runbook:use', 'public runbook', true],
  [threats, steps, 1, 'lessee-reader', 'baremetal:runbook:use', 'public runbook', false],
  [threats, 'Boot images', 0, 'lessee-admin', 'baremetal:node:vmedia:attach', 'node', false],
  [threats, 'Boot images', 0, 'owner-manager', 'temper:node:update:bmc_credentials', 'node', true],
  [threats, 'Boot images', 0, 'owner-member', 'temper:node:update:bmc_credentials', 'node', false],
  [threats, 'Boot images', 0, 'stranger-admin', 'temper:node:update:bmc_credentials', 'node', false],
  [threats, 'Boot images', 0, 'owner-manager', 'temper:node:update:ramdisk', 'node', false],
  [threats, 'Boot images', 0, 'system-member', 'baremetal:node:vmedia:attach', 'node', true],
  [threats, traits, 0, 'owner-admin', 'baremetal:node:traits:set', 'node', false],
  [threats, traits, 0, 'owner-admin', 'baremetal:node:traits:delete', 'node', false],
  [threats, traits, 0, 'system-member', 'baremetal:node:traits:set', 'node', true],
];

test.each(cells)('%s, %s, policy %i: %s asks %s of %s: %s', (document, heading, index, who, rule, what, may) => {
  const file = filesOf(partOf(readDocument(document), heading))[index]!;
  expect(load(file).allows(rule, personas[who], targets[what])).toBe(may);
});

test('each policy of the documents has a persona whom it admits and one whom it refuses', () => {
  const tried = (may: boolean) =>
    new Set(cells.flatMap(([...cell]) => (cell[6] === may ? [cell.slice(0, 3).join()] : [])));
  const all = every.map(([...one]) => one.slice(0, 3).join());
  for (const may of [true, false]) expect(all.filter((one) => !tried(may).has(one))).toEqual([]);
});

test('the table of what owners and lessees may is what set temper decides', () => {
  const [head, ...rows] = tableOf(partOf(readDocument(tenants), 'Permissions')).filter((row) => row.length > 2);
  const policy = createPolicy({ set: 'temper' });
  const decided = rows.map(([what, rule]) => [
    what,
    rule,
    ...head!
      .slice(2)
      .map((who) =>
        policy.allows(rule!.replaceAll('`', ''), personas[who as PersonaName], targets.node) ? 'yes' : 'no',
      ),
  ]);
  expect(rows.length).toBeGreaterThan(10);
  expect(rows).toEqual(decided);
});

test('what chooses a boot image is the system’s where the threat model says so, in set temper', () => {
  const rows = tableOf(partOf(readDocument(threats), 'Boot images')).filter(([, , who]) => who === 'the system');
  const rules = rows.flatMap(([, cell]) => cell!.match(/[a-z_]+:[a-z_:]+/g) ?? []);
  expect(rules.length).toBe(6);
  const policy = createPolicy({ set: 'temper' });
  const open = rules.filter((rule) =>
    Object.values(personas).some((who) => who.system_scope === null && policy.allows(rule, who, targets.node)),
  );
  expect(open).toEqual([]);
});

test.each(documents)('what %s links to is there', (document) => {
  const missing = linksOf(readDocument(document)).filter((link) => !existsSync(join(__dirname, '../../docs', link)));
  expect(missing).toEqual([]);
});
