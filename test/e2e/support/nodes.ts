/** Nodes of a system's rack, brought through the API to where a test begins; and their runs. */
import { ask, enrol, newestRun, rests, set, until } from '../../../demo/nodes';
import type { Json, Person, RackBmc, RackEntry } from '../../../demo/system';
import type { System } from './system';

/** Only a run that never ends is too slow. */
export const withinMs = 180_000;

/** Names in clouds.yaml, here also as the demo identity service knows the projects. */
export { demoProjects as projects } from '../../../emulator/identity/people';

/** Enrols BMCs of the rack by their index and verifies them. @returns the nodes' names */
export const manageable = async (
  system: System,
  operator: Person,
  ...indexes: readonly number[]
): Promise<string[]> => {
  const bmcs = (await system.rack.bmcs()).filter(({ index }) => indexes.includes(index));
  await Promise.all(bmcs.map((bmc) => enrol(operator, bmc)));
  const names = bmcs.map(({ name }) => name);
  await reach(operator, names, 'manage', 'manageable');
  return names;
};

/** As `manageable`, and in use. */
export const active = async (system: System, operator: Person, ...indexes: readonly number[]): Promise<string[]> => {
  const names = await manageable(system, operator, ...indexes);
  await reach(operator, names, 'adopt', 'active');
  return names;
};

const reach = async (operator: Person, names: readonly string[], verb: string, state: string): Promise<void> => {
  await Promise.all(names.map((name) => ask(operator, name, verb)));
  await Promise.all(names.map((name) => rests(operator, name, state, withinMs)));
};

export const lease = (
  operator: Person,
  node: string,
  to: { readonly owner?: string; readonly lessee?: string },
): Promise<Json> => set(operator, node, to);

export const bmcOf = async (system: System, node: string): Promise<RackBmc> =>
  (await system.rack.bmcs()).find(({ name }) => name === node)!;

/** The newest sequence number of a BMC's journal: what comes later belongs to what is asked now. */
export const journalNow = async (system: System, node: string): Promise<number> =>
  (await system.rack.accepted((await bmcOf(system, node)).index)).at(-1)?.seq ?? 0;

/** State-changing commands that a node's BMC accepted since. */
export const acceptedSince = async (system: System, node: string, since: number): Promise<RackEntry[]> =>
  system.rack.accepted((await bmcOf(system, node)).index, since);

/** What the ramdisks on a node were sent since, in words: the command, and the step it runs. */
export const ramdiskCommandsSince = async (system: System, uuid: string, since: number): Promise<string[]> =>
  (await system.rack.ramdiskCommands())
    .filter(({ seq, node_uuid }) => seq > since && node_uuid === uuid)
    .map(({ command, step }) => step ?? command);

export const commandOf = ({ method, path, content }: RackEntry): string =>
  `${method} ${path.split('/redfish/v1')[1]} ${JSON.stringify(content)}`;

/** Commands that came more than once. */
export const repeated = (commands: readonly string[]): string[] =>
  commands.filter((command, index) => commands.indexOf(command) !== index);

/** A caller that asks again when answered 503, as the OpenStack clients do. */
export const patient = (person: Person): Person => {
  const ask: Person['ask'] = (method, path, body) =>
    until(`an answer to ${method} ${path}`, withinMs, async () => {
      const reply = await person.ask(method, path, body);
      return reply.status === 503 ? undefined : reply;
    });
  return {
    ...person,
    ask,
    async must(method, path, body) {
      const { status, says, body: told } = await ask(method, path, body);
      if (status >= 300) throw new Error(`${person.name}: ${method} ${path} answered ${status}: ${says}`);
      return told;
    },
  };
};

/** A run of a node, and where the journal of its BMC stood when it was asked for. */
export type Run = { readonly uuid: string; readonly node: string; readonly since: number };

/** The id of a node's newest run. */
export const newestOf = async (person: Person, node: string): Promise<string> => (await newestRun(person, node)).uuid;

/** Waits until a run has ended. Replies that fail meanwhile are part of the story. */
export const ended = (person: Person, run: string): Promise<Json> => comes(person, run, (seen) => seen.finished_at);

/** Waits until a run has ended or waits for a person. */
export const settled = (person: Person, run: string): Promise<Json> =>
  comes(person, run, (seen) => seen.finished_at || seen.state === 'parked');

const comes = async (person: Person, run: string, there: (seen: Json) => unknown): Promise<Json> => {
  let last: Json;
  try {
    return await until(`run ${run} to end`, withinMs, async () => {
      last = (await look(person, run)) ?? last;
      return last && there(last) ? last : undefined;
    });
  } catch (failure) {
    throw new Error(`${(failure as Error).message}; it is ${JSON.stringify(last)}`);
  }
};

/** A run as it is now; undefined while the API does not answer. */
const look = async (person: Person, run: string): Promise<Json | undefined> => {
  try {
    const { status, body } = await person.ask('GET', `/temper/v1/runs/${run}`);
    return status === 200 ? body : undefined;
  } catch {
    return undefined;
  }
};
