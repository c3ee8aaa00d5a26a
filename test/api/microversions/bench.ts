/** What every test of a minor version works on: an API, objects of one's own, and requests whose version is always answered. */
import { addWorker, faultOf, type Reply, startTestApi, type TestApi } from '../../support/api';
import { type Fill, type NodeColumns, worldOf } from '../../support/rule-world';

export type Bench = {
  readonly api: TestApi;
  /** New objects, made as requests name them: `{node}`, `{port}`. */
  world(columns?: NodeColumns): Fill;
};

const looks: Readonly<Record<string, unknown>> = {
  read_indicators: [{ name: 'led', component: 'chassis', state: 'on', readonly: false, states: ['on', 'off'] }],
  read_media: [],
};

/** @param runs what the runs do instead of writing down what they were asked */
export const startBench = async (): Promise<Bench> => {
  const api = await startTestApi({ runs: { call: async ({ act }) => looks[act] } });
  await addWorker(api.sql);
  return { api, world: (columns = {}) => worldOf(api, { provision_state: 'manageable', ...columns }) };
};

let made = 0;

/** A number that nothing else has. */
export const fresh = (): number => ++made;

export const freshMac = (): string => `52:55:${(fresh() + 0x1000_0000).toString(16).match(/../g)!.join(':')}`;

/**
 * Asks as the operator, `METHOD /path`. Whatever the answer is, it must name the version that was asked for and the request.
 * @param who another persona, or none at all
 */
export const ask = async (
  { api }: Bench,
  minor: number,
  request: string,
  body?: unknown,
  who: Parameters<TestApi['as']>[0] = 'operator',
): Promise<Reply> => {
  const [method, path] = request.split(' ') as [string, string];
  const reply = await api.as(who, method, path, { minor, body });
  expect([request, reply.headers.get('x-openstack-ironic-api-version')]).toEqual([request, `1.${minor}`]);
  expect(reply.headers.get('x-openstack-request-id')).toMatch(/^req-/);
  return reply;
};

/** The reply went well; otherwise the test shows what it says. */
export const expectGood = (what: string, reply: Reply): void => {
  const says = reply.status < 300 ? 'good' : reply.text;
  expect([what, says]).toEqual([what, 'good']);
};

/** The reply refuses with this status; one for the version says which version is needed. */
export const expectRefused = (what: string, reply: Reply, status: number, since?: number): void => {
  expect([what, reply.status]).toEqual([what, status]);
  if (since !== undefined && status === 406) expect([what, faultOf(reply)]).toEqual([what, needs(since)]);
};

const needs = (since: number) => expect.stringMatching(new RegExp(`\\b1\\.${since}\\b`));

/** Both sides of a boundary: the version itself and the one before. */
export const sidesOf = (minor: number): { readonly before: number; readonly from: number } => ({
  before: minor - 1,
  from: minor,
});
