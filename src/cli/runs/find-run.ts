/** Finds a run by its UUID, the UUID's beginning, or its node. */
import type { ListedRun } from '../../wire/runs';
import type { Context } from '../context';
import { stop } from '../faults';
import { plainText } from '../tables';

const wholeUuid = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;
const beginning = /^[0-9a-f][0-9a-f-]{3,35}$/i;
// Two rows prove ambiguity.
const enough = '2';

const listed = async ({ api }: Context, query: Readonly<Record<string, string>>): Promise<readonly ListedRun[]> => {
  const asked = new URLSearchParams({ state: 'any', ...query });
  return ((await api.send('GET', `/temper/v1/runs?${asked}`)) as { runs: ListedRun[] }).runs;
};

const isMissing = (thrown: unknown): boolean => (thrown as { status?: unknown }).status === 404;

/** Returns undefined without such a node or a visible run. */
const newestOf = async (context: Context, node: string): Promise<ListedRun | undefined> => {
  try {
    return (await listed(context, { node, limit: '1' }))[0];
  } catch (thrown) {
    if (isMissing(thrown)) return undefined;
    throw thrown;
  }
};

const saying = (run: ListedRun): string =>
  `${run.uuid} (${plainText(run.verb)} of ${plainText(run.node_name ?? run.node_uuid)})`;

/** Refuses a text that matches both a UUID's beginning and a node's name, because acts must not reach the wrong run. Throws CliFault. */
export const findRun = async (context: Context, ident: string): Promise<string> => {
  if (wholeUuid.test(ident)) return ident;
  const byId = beginning.test(ident) ? await listed(context, { run: ident, limit: enough }) : [];
  const byNode = await newestOf(context, ident);
  const found = [...byId, ...(byNode && byId.every(({ uuid }) => uuid !== byNode.uuid) ? [byNode] : [])];
  if (found.length > 1)
    stop('usage', `${plainText(ident)} could be ${found.map(saying).join(' or ')}; give more of the UUID.`);
  return (
    found[0]?.uuid ??
    stop('refused', `There is no run whose UUID begins with ${plainText(ident)}, and no node of that name with runs.`)
  );
};
