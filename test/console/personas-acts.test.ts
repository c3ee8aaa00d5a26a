/** Maintenance and freezes of nodes, and pages of runs, rollouts and their nodes, as every persona: what rules and state admit is offered and works, and nothing else. */
import { offeredRolloutActs } from '../../src/model/rollouts/rollout-acts';
import { runActs } from '../../src/model/runs/run-acts';
import { startTestApi, type TestApi } from '../support/api';
import { startTestConsole, type TestConsole } from '../support/console';
import { runningRun } from '../support/happenings';
import { rolloutOf } from '../support/rule-world';
import { type Persona, personas } from '../support/world';

let api: TestApi;
let pages: TestConsole;

type Object = { readonly kind: 'node' | 'run' | 'rollout'; readonly id: string; readonly node: string };
/** What a page is about, made afresh for each persona: pressing changes it. */
type Sort = {
  readonly make: () => Promise<Object>;
  readonly page: (object: Object) => string;
  /** What this state admits. */
  readonly admits: readonly string[];
};

const everyPersona = (Object.keys(personas) as (keyof typeof personas)[]).filter((who): who is Persona => who !== 'stranger-roleless'); // biome-ignore format: one row

const run = (state: string) => async (): Promise<Object> => {
  const seen = await runningRun(api, { state, cursor: 0, started_at: new Date() });
  await api.sql`update nodes set reservation = ${seen.run}, provision_state = 'servicing' where uuid = ${seen.node}`;
  const step = { interface: 'power', step: 'reboot', state: state === 'parked' ? 'parked' : 'running', attempt: 1, attempts: 1 };
  await api.sql`insert into run_steps ${api.sql({ run_id: seen.run, index: 0, ...step } as never)}`;
  return { kind: 'run', id: seen.run, node: seen.node };
}; // biome-ignore format: rows

const rollout = (state: string, code: string | null, target: string) => async (): Promise<Object> => {
  const { node } = await runningRun(api, { state: 'succeeded', finished_at: new Date() });
  const id = await rolloutOf(api, node, state);
  await api.sql`update rollouts set code = ${code} where id = ${id}`;
  await api.sql`update rollout_targets set state = ${target},
    ended_at = ${target === 'failed' ? new Date() : null}, not_before = now() + interval '5 hours' where rollout = ${id}`;
  return { kind: 'rollout', id, node };
};

const node = (columns: object) => async (): Promise<Object> => {
  const { node: id } = await runningRun(api, { state: 'succeeded', finished_at: new Date() });
  await api.sql`update nodes set ${api.sql({ driver: 'redfish', ...columns } as never)} where uuid = ${id}`;
  return { kind: 'node', id, node: id };
};

const ofNode = ({ id }: Object) => `/nodes/${id}`;
const ofRun = ({ id }: Object) => `/runs/${id}`;
const ofRollout = ({ id }: Object) => `/rollouts/${id}`;
const ofTarget = ({ id }: Object) => `/rollouts/${id}/targets/0`;

const sorts: Readonly<Record<string, Sort>> = {
  'a node': { make: node({}), page: ofNode, admits: ['maintenance-on', 'freeze'] },
  'a node in maintenance': { make: node({ maintenance: true }), page: ofNode, admits: ['maintenance-off', 'freeze'] },
  'a run at work': { make: run('running'), page: ofRun, admits: ['pause', 'abort'] },
  'a parked run': { make: run('parked'), page: ofRun, admits: ['retry', 'skip', 'fail', 'pause', 'abort'] },
  'a paused run': { make: run('paused'), page: ofRun, admits: ['resume', 'abort'] },
  'a plan': { make: rollout('planned', null, 'pending'), page: ofRollout, admits: ['submit', 'approve', 'reject', 'start', 'abort'] },
  'a rollout that waits for approval': { make: rollout('awaiting_approval', null, 'pending'), page: ofRollout, admits: ['approve', 'reject', 'start', 'abort'] },
  'a rollout at work': { make: rollout('running', null, 'pending'), page: ofRollout, admits: ['pause', 'adopt', 'abort'] },
  'a rollout at its gate': { make: rollout('paused', 'wave_gate', 'done'), page: ofRollout, admits: ['advance', 'adopt', 'abort'] },
  'a rollout that a person paused': { make: rollout('paused', 'operator', 'pending'), page: ofRollout, admits: ['resume', 'adopt', 'abort'] },
  'a node whose tenant is asked': { make: rollout('running', null, 'asked'), page: ofTarget, admits: ['consent', 'refuse', 'skip'] },
  'a node that failed': { make: rollout('running', null, 'failed'), page: ofTarget, admits: ['retry'] },
}; // biome-ignore format: one sort a row

const rulesOfNode: Readonly<Record<string, string>> = {
  'maintenance-on': 'baremetal:node:set_maintenance',
  'maintenance-off': 'baremetal:node:clear_maintenance',
  freeze: 'temper:freeze:create',
};
const ruleOf = (kind: Object['kind'], act: string): string =>
  rulesOfNode[act] ?? `temper:${kind}:${{ reject: 'approve', consent: 'answer', refuse: 'answer' }[act] ?? act}`;

const formsIn = (text: string) =>
  [...text.matchAll(/<form method="post" action="([^"]+)"[^>]*>([\s\S]*?)<\/form>/g)].flatMap(([, action, inner]) => {
    const fields = [...inner!.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name, value]) => [name!, value!] as const); // biome-ignore format: one row
    // An act on a node is named by a field; its verbs, power and runbooks are in personas.test.ts.
    const what = fields.find(([name]) => name === 'what')?.[1];
    if (what !== undefined ? ['verb', 'power'].includes(what) : !/^\/(runs|rollouts)\//.test(action!)) return [];
    return [{ act: what ?? action!.split('/').at(-1)!, action: action!, fields: Object.fromEntries(fields) }];
  });

beforeAll(async () => {
  api = await startTestApi();
  pages = await startTestConsole(api.url);
}, 120_000);
afterAll(async () => {
  await pages?.close();
  await api?.close();
});

const allowed = async (who: Persona, { kind, id, node }: Object, acts: readonly string[]): Promise<string[]> => {
  const asks = acts.map((act) => ({ rule: ruleOf(kind, act), [kind]: id, ...(kind === 'rollout' && { node }) }));
  const { body } = await api.as(who, 'POST', '/temper/v1/policy/can', { body: { asks } });
  return acts.filter((_, at) => body.answers[at].allowed);
};

/** Personas to whom each act was offered. */
const offered = new Map<string, Set<Persona>>();

describe.each(Object.entries(sorts))('%s', (name, { make, page, admits }) => {
  test.each(everyPersona)('offers %s what rules and state admit, no more, and each works', async (who) => {
    const browser = await pages.as(who);
    const first = await make();
    const { status, text } = await browser.get(page(first));
    if (status !== 200) return expect(who).toMatch(/^(stranger|lessee|owner)/);
    const acts = [...new Set(formsIn(text).map(({ act }) => act))];
    expect(acts.toSorted()).toEqual((await allowed(who, first, admits)).toSorted());
    expect(text).not.toMatch(/Redacted|[Rr]equires baremetal:/);
    for (const act of acts) {
      const object = await make();
      const form = formsIn((await browser.get(page(object))).text).find((one) => one.act === act)!;
      const answer = await browser.post(form.action, { ...form.fields, reason: 'seen to', running: 'finish' });
      expect({ act, status: answer.status }).toEqual({ act, status: 303 });
      offered.set(`${name}: ${act}`, (offered.get(`${name}: ${act}`) ?? new Set()).add(who));
    }
  });
});

test('each act that a state admits was offered to somebody', () => {
  const all = Object.entries(sorts).flatMap(([name, { admits }]) => admits.map((act) => `${name}: ${act}`));
  expect([...offered.keys()].toSorted()).toEqual(all.toSorted());
  expect(new Set(all.map((one) => one.split(': ')[1]))).toEqual(
    new Set([...Object.keys(rulesOfNode), ...runActs, ...offeredRolloutActs, 'consent', 'refuse', 'skip', 'retry']),
  );
});
