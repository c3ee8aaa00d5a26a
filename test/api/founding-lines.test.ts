/** The lines of the documents on tenants that let callers read, over set closed: the API answers as the table of test/policy has it. */
import { answerOf, createPolicy } from '../../src/policy';
import { scenesOf } from '../../src/policy/reports/matrix-cells';
import { startTestApi, type TestApi } from '../support/api';
import { foundingFiles, linesOf, optionsWith, textOf } from '../support/founding-lines';
import { lessee, owner, type Persona, personas } from '../support/world';

let api: TestApi;
// In the order of the scenes of a rule.
const made = { nodes: [] as string[], ports: [] as string[], allocations: [] as string[] };

beforeAll(async () => {
  api = await startTestApi();
  for (const tenants of [{ owner, lessee }, { owner }, {}]) {
    const [node] = await api.sql<
      { uuid: string }[]
    >`insert into nodes ${api.sql({ driver: 'fake-hardware', ...tenants } as never)} returning uuid`;
    const body = { node_uuid: node!.uuid, address: `52:54:00:00:00:0${made.nodes.length}` };
    made.nodes.push(node!.uuid);
    made.ports.push((await api.as('operator', 'POST', '/v1/ports', { body })).body.uuid);
  }
  const [allocation] = await api.sql<{ uuid: string }[]>`
    insert into allocations (name, resource_class, owner) values ('a', 'x', ${owner}) returning uuid`;
  made.allocations.push(allocation!.uuid);
});
afterAll(() => api.close());

type Reading = { readonly kind: keyof typeof made; readonly below?: string; readonly list?: true };
const readings: Readonly<Record<string, Reading>> = {
  'baremetal:node:get': { kind: 'nodes' },
  'baremetal:node:list': { kind: 'nodes', list: true },
  'baremetal:node:vif:list': { kind: 'nodes', below: '/vifs' },
  'baremetal:port:get': { kind: 'ports' },
  'baremetal:port:list': { kind: 'ports', list: true },
  'baremetal:allocation:get': { kind: 'allocations' },
  'baremetal:allocation:list': { kind: 'allocations', list: true },
};
const verdicts: Readonly<Record<number, string>> = { 200: 'allowed', 403: 'refused', 404: 'missing' };

/** What the API answers about each object; a rule that shows one refuses by 404 as well. */
const answered = async (who: Persona, { kind, below = '', list }: Reading): Promise<(string | undefined)[]> => {
  if (!list)
    return Promise.all(
      made[kind].map(async (id) => verdicts[(await api.as(who, 'GET', `/v1/${kind}/${id}${below}`)).status]),
    );
  const { status, body } = await api.as(who, 'GET', `/v1/${kind}`);
  const rows: string[] = status === 200 ? body[kind].map(({ uuid }: { uuid: string }) => uuid) : [];
  return made[kind].map((id) => (status === 200 && !rows.includes(id) ? 'missing' : verdicts[status]));
};

const callers = [
  'operator',
  'system-reader',
  'owner-admin',
  'owner-reader',
  'lessee-member',
  'stranger-admin',
] as const;
const lines = foundingFiles.flatMap(linesOf).filter(({ rule }) => readings[rule] !== undefined);

test.each(lines.map((line) => [line.file, textOf(line), line] as const))('%s: %s', async (_file, _text, line) => {
  const reading = readings[line.rule]!;
  const shows = /:(?:node|allocation):get$/.test(line.rule);
  for (const whole of [false, true]) {
    const options = optionsWith(line, whole);
    const policy = createPolicy(options);
    api.setPolicy(options);
    for (const who of callers) {
      const wanted = scenesOf(line.rule).map(({ target }) => answerOf(policy, line.rule, personas[who], target));
      const said = wanted.map((answer) => (shows && answer === 'refused' ? 'missing' : answer));
      expect([whole, who, await answered(who, reading)]).toEqual([whole, who, said]);
    }
  }
});
