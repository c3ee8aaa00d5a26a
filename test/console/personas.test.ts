/** Pages of nodes in every state, leased and not, as every persona: what rules and state admit is offered and works, and nothing else. */
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { hidden, withHidden } from '../../src/console/hidden';
import { type PowerTarget, powerTargets, states } from '../../src/model/lifecycle/states';
import type { ResourceTable } from '../../src/model/resources/fields';
import { addWorker, startTestApi, type TestApi } from '../support/api';
import { startTestConsole, type TestConsole } from '../support/console';
import { type ConsoleWorld, consoleWorld, pagesOf } from '../support/console-world';
import { runningRun } from '../support/happenings';
import { lessee, owner, type Persona, personas } from '../support/world';

let api: TestApi;
let pages: TestConsole;
let world: ConsoleWorld;

const everyPersona = (Object.keys(personas) as (keyof typeof personas)[]).filter((who): who is Persona => who !== 'stranger-roleless'); // biome-ignore format: one row
/** Each sort of tenant sees every state once, as its first; other roles differ by rules alone. */
const everyState: readonly Persona[] = ['operator', 'owner-admin', 'lessee-member'];
const toEveryRole = ['leased-active', 'leased-manageable', 'leased-service-wait', 'leased-service-failed', 'busy', 'maintained', 'unleased-active']; // biome-ignore format: one list
const hiddenWords = /Redacted|Requires baremetal:|requires baremetal:/;

const sent = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** How a page offers an act on a node, and how the API is asked for the same. */
type Act = { readonly name: string; readonly fields: readonly string[]; readonly rule: string; readonly method: string; readonly path: string; readonly body?: object }; // biome-ignore format: one row

const verbs = ['manage', 'inspect', 'provide', 'adopt', 'abort', 'undeploy', 'unrescue', 'unhold'];
const acts: readonly Act[] = [
  ...verbs.map((verb) => ({ name: verb, fields: ['what=verb', `verb=${verb}`], rule: 'baremetal:node:set_provision_state', method: 'PUT', path: 'states/provision', body: { target: verb } })),
  ...(Object.keys(powerTargets) as PowerTarget[]).map((target) => ({ name: target, fields: ['what=power', `target=${target}`], rule: 'baremetal:node:set_power_state', method: 'PUT', path: 'states/power', body: { target } })),
  { name: 'runbook', fields: ['what=verb', 'verb=service'], rule: 'temper:node:run_runbook', method: 'PUT', path: 'states/provision', body: { target: 'service', runbook: 'CUSTOM_WALK' } },
]; // biome-ignore format: one act a row

/** Forms on the page of a node, as what each sends beside its token and its key. */
const formsIn = (text: string): string[][] =>
  [...text.matchAll(/<form method="post" action="\/nodes\/[^"]+\/acts"[^>]*>([\s\S]*?)<\/form>/g)].map(([, inner]) =>
    [...inner!.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)]
      .map(([, name, value]) => `${name}=${value}`)
      .filter((field) => !/^(?:csrf|key)=/.test(field)),
  );

const offeredIn = (text: string): string[] => {
  const forms = formsIn(text).map((fields) => fields.join('&'));
  return acts.filter(({ fields }) => forms.includes(fields.join('&'))).map(({ name }) => name).sort();
}; // biome-ignore format: short

type Made = { readonly name: string; readonly run?: string };
const made: Made[] = [];

/** A node of this sort; a run holds it where its state is that of one at work, or where it is said so. */
const makeNode = async (name: string, columns: Readonly<Record<string, unknown>>, held?: boolean): Promise<void> => {
  const { provision_state: state, lessee: tenant = null } = columns as { provision_state: keyof typeof states; lessee?: string };
  const busy = held ?? ['transient', 'hold'].includes(states[state].kind);
  const { node, run } = await runningRun(api, { ...(busy ? { state: 'running' } : { state: 'succeeded', finished_at: new Date() }), lessee: tenant });
  const row = { name, driver: 'redfish', owner, lessee: tenant, power_state: 'power on', traits: ['CUSTOM_WALK'], reservation: busy ? run : null, ...columns };
  const driver_info = api.sql.json({ redfish_address: 'https://192.0.2.7', deploy_iso: 'https://images.example.org/r.iso' });
  await api.sql`update nodes set ${api.sql({ ...row, driver_info } as never)} where uuid = ${node}`;
  const [lease] = await api.sql<{ lease_id: string }[]>`select lease_id from nodes where uuid = ${node}`;
  await api.sql`update runs set lease_id = ${lease!.lease_id}, lessee = ${tenant}, node_name = ${name} where id = ${run}`;
  if (!busy) await api.sql`update nodes set last_error = 'told' where uuid = ${node}`;
  made.push({ name, ...(busy && { run }) });
}; // biome-ignore format: rows

beforeAll(async () => {
  api = await startTestApi();
  pages = await startTestConsole(api.url);
  await addWorker(api.sql);
  world = await consoleWorld(api);
  const steps = [{ interface: 'power', step: 'reboot', order: 1, args: {} }];
  const { body } = await api.as('operator', 'POST', '/v1/runbooks', { body: { name: 'CUSTOM_WALK', steps, public: true } });
  await api.sql`update runbooks set traits = '{CUSTOM_WALK}' where uuid = ${body.uuid}`;
  for (const state of Object.keys(states)) await makeNode(`leased-${state.replaceAll(' ', '-')}`, { provision_state: state, lessee });
  for (const state of ['manageable', 'available', 'active', 'clean failed', 'service wait'])
    await makeNode(`unleased-${state.replaceAll(' ', '-')}`, { provision_state: state });
  await makeNode('busy', { provision_state: 'active', lessee }, true);
  await makeNode('maintained', { provision_state: 'active', lessee, maintenance: true });
  await makeNode('maintained-failed', { provision_state: 'service failed', lessee, maintenance: true });
  await makeNode('protected', { provision_state: 'active', lessee, protected: true });
  await makeNode('retired', { provision_state: 'manageable', lessee, retired: true });
  await makeNode('kept-on', { provision_state: 'active', lessee, disable_power_off: true });
  await makeNode('blind', { provision_state: 'manageable', lessee, inspect_interface: 'no-inspect' });
  await makeNode('frozen', { provision_state: 'active', lessee });
  const reason = { body: { reason: 'a cable' } };
  await api.as('operator', 'POST', '/temper/v1/nodes/frozen/freezes', reason);
}, 120_000); // biome-ignore format: rows
afterAll(async () => {
  await pages?.close();
  await api?.close();
});

const ask = (who: Persona, node: string, { method, path, body }: Act) =>
  api.as(who, method, `/v1/nodes/${node}/${path}`, { body });

/** What the API takes of a caller whom all rules admit: what the state admits. */
const admittedBy = async (node: string): Promise<readonly string[]> => {
  const taken = await Promise.all(acts.map((act) => ask('operator', node, act)));
  return acts.filter((_, at) => taken[at]!.status === 202).map(({ name }) => name);
};
const admitted = new Map<string, readonly string[]>();

const allowedTo = async (who: Persona, node: string): Promise<readonly string[]> => {
  const rules = [...new Set(acts.map(({ rule }) => rule))];
  const asks = rules.map((rule) => ({ rule, node }));
  const { body } = await api.as(who, 'POST', '/temper/v1/policy/can', { body: { asks } });
  const allowed = new Map(rules.map((rule, at) => [rule, body.answers[at].allowed as boolean]));
  return acts.filter(({ rule }) => allowed.get(rule)).map(({ name }) => name);
};

test('what the state admits is the same for all whom the rules admit', async () => {
  for (const { name } of made) admitted.set(name, await admittedBy(name));
  expect(admitted.get('leased-active')).toEqual(['undeploy', ...Object.keys(powerTargets), 'runbook']);
  expect(admitted.get('busy')).toEqual([]);
  expect(new Set([...admitted.values()].flat())).toEqual(new Set(acts.map(({ name }) => name)));
});

test.each(everyPersona)('to %s a node offers what rules and state admit, no more, and each kind works', async (who) => {
  const browser = await pages.as(who);
  const pressed = new Set<string>();
  let seen = 0;
  const looked = made.filter(({ name }) => everyState.includes(who) || toEveryRole.includes(name));
  for (const { name, run } of looked) {
    const { status, text } = await browser.get(`/nodes/${name}`);
    expect({ name, status }).toEqual({ name, status: (await api.as(who, 'GET', `/v1/nodes/${name}`)).status });
    if (status !== 200) continue;
    seen += 1;
    const may = await allowedTo(who, name);
    const wanted = admitted.get(name)!.filter((act) => may.includes(act));
    expect({ name, offered: offeredIn(text) }).toEqual({ name, offered: wanted.toSorted() });
    expect({ name, words: hiddenWords.exec(text) }).toEqual({ name, words: null });
    // Only what a run holds is shown as held.
    expect({ name, held: /The node is locked by/.test(text) && run === undefined }).toEqual({ name, held: false });
    for (const act of acts.filter((one) => wanted.includes(one.name) && !pressed.has(one.name))) {
      pressed.add(act.name);
      const fields = Object.fromEntries(act.fields.map((field) => field.split('=') as [string, string]));
      const page = await browser.post(`/nodes/${name}/acts`, { ...fields, ...(act.name === 'runbook' && { runbook: 'CUSTOM_WALK' }) });
      expect({ name, act: act.name, status: page.status }).toEqual({ name, act: act.name, status: 303 });
    }
  }
  expect(seen > 0).toBe(!who.startsWith('stranger'));
}); // biome-ignore format: rows

test.each(everyPersona)('no page shows %s the words of the API for what is hidden', async (who) => {
  const browser = await pages.as(who);
  for (const address of [...pagesOf(world), '/nodes?limit=200', '/runs?state=any']) {
    const { text } = await browser.get(address);
    expect({ address, words: hiddenWords.exec(text) }).toEqual({ address, words: null });
  }
});

test('every field that a rule may hide is known to the console as hidden', () => {
  const folder = resolve(__dirname, '../../src/model/resources');
  const tables = readdirSync(folder).flatMap((file) => Object.values(require(resolve(folder, file)) as object)) as ResourceTable[];
  const rows = tables.flatMap((table) => (Array.isArray(table?.fields) ? table.fields : [])).filter(({ redact }) => redact);
  expect(rows.length).toBeGreaterThan(4);
  for (const { name, redact } of rows) {
    expect(withHidden({ [name]: sent(redact!.shown) })).toEqual({ [name]: hidden });
    expect(withHidden({ things: [{ [name]: 'its own' }, { [name]: sent(redact!.shown) }] })).toEqual({ things: [{ [name]: 'its own' }, { [name]: hidden }] });
  }
}); // biome-ignore format: rows

test('the console failed in none of this', () => {
  expect(pages.faults).toEqual([]);
});
