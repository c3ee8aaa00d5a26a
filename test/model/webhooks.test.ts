/** Kinds of events that webhooks name: the table has every kind that the code writes, and a misspelled one is refused. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventFamilies, eventKindFault, eventKinds } from '../../src/model/resources/webhooks';

const filesIn = (dir: string): string[] =>
  readdirSync(dir, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesIn(join(dir, entry.name)) : entry.name.endsWith('.ts') ? [join(dir, entry.name)] : [],
  );
const source = ['api', 'inventory', 'activities', 'runs', 'rollouts']
  .flatMap((room) => filesIn(join(__dirname, '../../src', room)))
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');

/** Names with a dot in them that are no kinds of events: a field of Temporal, a step, an event of Neutron; and acts, which are for streams alone. */
const others = ['priority.priority_key', 'vendor.send_raw', 'network.bind_port', 'act.done'];

test('every kind that is written by its name is in the table', () => {
  const written = [...source.matchAll(/(?:kind: |select |then |else |\[)'([a-z_]+\.[a-z_.]+)'/g)].map(
    (found) => found[1]!,
  );
  const kinds = written.filter((kind) => !others.includes(kind) && !/\.(owner|lessee|tenant)$/.test(kind));
  expect(kinds.length).toBeGreaterThan(20);
  expect(kinds.filter((kind) => !eventKinds.includes(kind))).toEqual([]);
});

test('every kind that is put together is of a family of the table', () => {
  const subjects = [...source.matchAll(/kind: `([a-z_]+)\./g)].map((found) => found[1]!);
  expect(subjects.length).toBeGreaterThan(5);
  const families: readonly string[] = eventFamilies;
  expect(subjects.filter((subject) => !families.includes(subject))).toEqual([]);
});

test.each([
  '*',
  'run.*',
  'step.*',
  'run.parked',
  'run.retrying',
  'node.maintenance.set',
  'port.created',
  'discovered_machine.enrolled',
])('%s can be named', (kind) => expect(eventKindFault(kind)).toBeUndefined());

test.each([
  ['run.failled', 'run.failed'],
  ['run.park', 'run.parked'],
  ['nodes.*', 'node.*'],
  ['node.maintenence.set', 'node.maintenance.set'],
])('%s is refused, and %s is offered', (kind, near) => expect(eventKindFault(kind)).toContain(`Did you mean ${near}?`));

test('what is near nothing is refused without an offer', () =>
  expect(eventKindFault('something.else.entirely')).toMatch(/^must be \*(?!.*Did you mean)/));
