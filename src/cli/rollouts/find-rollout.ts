/** Finds a rollout and its plan from the caller's short forms. */
import type { Rollout } from '../../wire/rollouts';
import { everyRow } from '../access/pages';
import type { Context } from '../context';
import { stop } from '../faults';

export const rolloutsPath = '/temper/v1/rollouts';
export const rolloutList = { path: rolloutsPath, rows: 'rollouts' };
const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Accepts a UUID, its beginning, or a name. Throws CliFault. */
export const findRollout = async ({ api }: Pick<Context, 'api'>, ident: string): Promise<string> => {
  if (uuidForm.test(ident)) return ident;
  const meant = (await everyRow<Rollout>({ api }, rolloutList)).filter(
    ({ uuid, name }) => name === ident || (ident.length >= 4 && uuid.startsWith(ident)),
  );
  if (meant.length > 1) stop('usage', `${ident} could be ${meant.length} rollouts; give more of its UUID.`);
  return meant[0]?.uuid ?? stop('refused', `No rollout ${ident}.`);
};

/** @param plan beginning of the hash. Throws CliFault if the rollout has another plan */
export const planHashOf = async (
  { api }: Pick<Context, 'api'>,
  uuid: string,
  plan: string | undefined,
): Promise<string> => {
  const { plan_hash = '' } = (await api.send('GET', `${rolloutsPath}/${uuid}`)) as Rollout;
  if (plan !== undefined && (plan.length < 4 || !plan_hash.startsWith(plan)))
    stop('refused', `The plan of rollout ${uuid} is ${plan_hash}, not ${plan}; read it again.`);
  return plan_hash;
};
