/** Statements that find rows by their node alone: those of tenants compare whose the node was as well, and every other one says why not. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const source = join(__dirname, '../../src/inventory');
const joined =
  /\b\w+\.(?:node_uuid|holder_id) = \w+\.(?:node_uuid|uuid)\b|\b\w+\.(?:node_uuid|uuid) = \w+\.(?:node_uuid|holder_id)\b/g;
/** What compares the tenant of a row with that of its node as it is now, at most so many characters from the join. */
const compares =
  /lease_id\) is not distinct from|\.lease_id = \w+\.lease_id|n\.lessee is not distinct from|lateral \$\{projectsOfTarget\(sql\)/;
const near = 600;

const facts = 'facts of the machine or of its rows, which no tenant keeps';
const held = 'the row is of the run that holds the node now, or of the boot that its fence names';
const secret = 'the secret belongs to the row that it is compared with';
const freeze = 'a freeze is of the node, and is ended by the rules of now';

/** `compared`: the statement compares the tenant, which is looked for beside it. */
const reasons: Readonly<Record<string, string>> = {
  'audit-list.ts: n.uuid = audit.node_uuid': 'compared',
  'disruption-budgets.ts: t.node_uuid = nodes.uuid': 'compared',
  'event-pages.ts: e.node_uuid = own.uuid':
    'each event is shown by a predicate over its tenant, which the columns of the same file hold',
  'event-pages.ts: n.uuid = e.node_uuid': 'compared',
  'event-pages.ts: t.node_uuid = e.node_uuid': 'compared',
  'images.ts: n.uuid = c.node_uuid': held,
  'incidents.ts: a.node_uuid = n.uuid': 'compared',
  'nodes/agents.ts: n.uuid = b.node_uuid': held,
  'nodes/boot-capabilities.ts: held.uuid = b.node_uuid': held,
  'nodes/boot-capabilities.ts: n.uuid = b.node_uuid': held,
  'nodes/boot-capabilities.ts: r.node_uuid = made.node_uuid': held,
  'nodes/console-tickets.ts: freezes.node_uuid = n.uuid': freeze,
  'nodes/console-tickets.ts: n.uuid = t.node_uuid': 'compared',
  'nodes/firmware-versions.ts: d.node_uuid = n.uuid': facts,
  'nodes/freezes.ts: nodes.uuid = freezes.node_uuid': freeze,
  'nodes/history.ts: b.node_uuid = e.node_uuid': 'the provision state before, which is a fact of the node',
  'nodes/image-capabilities.ts: n.uuid = c.node_uuid': held,
  'nodes/network-boots.ts: n.uuid = p.node_uuid': facts,
  'nodes/power-sync.ts: p.node_uuid = nodes.uuid': facts,
  'nodes/ramdisk-boots.ts: n.uuid = b.node_uuid': held,
  'nodes/ramdisk-boots.ts: nodes.uuid = contested.node_uuid': held,
  'notifications.ts: later.node_uuid = e.node_uuid':
    'the provision state of that time, for listeners of the installation',
  'power-notices.ts: n.uuid = e.node_uuid':
    'the event names the node alone; power and instance are sent as they are now',
  'ramdisks.ts: n.uuid = b.node_uuid': held,
  'rollouts/admission.ts: n.uuid = t.node_uuid': 'compared',
  'rollouts/due.ts: f.node_uuid = t.node_uuid': 'says in which order targets are looked at; admission compares',
  'rollouts/due.ts: n.uuid = t.node_uuid': 'says in which order targets are looked at; admission compares',
  'rollouts/rollouts.ts: t.node_uuid = n.uuid': 'compared',
  'rollouts/selection.ts: t.node_uuid = nodes.uuid': 'leaves nodes out of a plan, among those that the caller sees now',
  'rollouts/targets.ts: n.uuid = held.node_uuid':
    'a soak ends in the transaction in which its node changes hands (hand_over_rollout_targets)',
  'rollouts/targets.ts: n.uuid = t.node_uuid': 'compared',
  'runs/acts.ts: a.node_uuid = held.uuid': held,
  'runs/acts.ts: p.node_uuid = held.uuid': held,
  'runs/hold.ts: r.node_uuid = nodes.uuid': 'tells maintenance of a failed run from that of a person; shows nothing',
  'runs/list.ts: nodes.uuid = r.node_uuid': 'compared',
  'runs/resumes.ts: d.node_uuid = runs.node_uuid': held,
  'runs/step-durations.ts: n.uuid = r.node_uuid': facts,
  'search.ts: n.uuid = p.node_uuid': facts,
  'secrets/resealing.ts: m.uuid = r.node_uuid': secret,
  'secrets/resealing.ts: n.uuid = s.holder_id': secret,
  'secrets/secrets.ts: n.uuid = secrets.holder_id': secret,
  'secrets/secrets.ts: runbooks.uuid = secrets.holder_id': secret,
  'secrets/secrets.ts: s.holder_id = n.uuid': secret,
  'secrets/secrets.ts: t.uuid = secrets.holder_id': secret,
  'webhooks.ts: n.uuid = e.node_uuid':
    'gives the name of the node of an event, which its receiver may read by the present owner and lease',
};

const joins = (readdirSync(source, { recursive: true }) as string[])
  .filter((name) => name.endsWith('.ts'))
  .flatMap((name) => {
    const text = readFileSync(join(source, name), 'utf8');
    return [...text.matchAll(joined)].map(({ 0: what, index }) => ({
      key: `${relative('.', name)}: ${what}`,
      compared: compares.test(text.slice(Math.max(0, index - near), index + near)),
    }));
  });

test('each statement that joins by the node alone says why it may', () => {
  expect([...new Set(joins.map(({ key }) => key))].sort()).toEqual(Object.keys(reasons).sort());
});

test('each that is said to compare the tenant does', () => {
  expect(joins.filter(({ key, compared }) => reasons[key] === 'compared' && !compared).map(({ key }) => key)).toEqual(
    [],
  );
});
