/**
 * Restart of the BMC, sent at most once because a repeat may do harm. A later attempt only looks for traces of it. Without any it
 * throws StepOutcomeUnknown.
 */
import { isTemperError, raise } from '../../../model/errors';
import type { ActOutcome } from '../../../model/runs/runs';
import { type Announced, announcements } from '../../announce';
import { type RestartLook, untilBack, resetWhat as what } from '../../bmc-restart';
import { announceAndSend } from '../../once';
import { allowableValues, findManager, findSystem } from '../discovery/discovery';
import { Anything, Manager, System } from '../discovery/resources';
import type { Client } from '../transport/client';

/** State before the command, to recognise a restart. */
type Before = { readonly last_reset_time: string | null; readonly session: string | null };

const resetTypes = ['GracefulRestart', 'ForceRestart'] as const;

type BmcResetFound = { readonly at: At; readonly manager: Manager };
type At = { readonly system: string; readonly manager: string };

const find = async (client: Client): Promise<BmcResetFound> => {
  const system = await findSystem(client);
  const manager = await findManager(client, (await system.look()).value);
  return { at: { system: system.path, manager: manager.path }, manager: manager.value };
};

const lastingCodes: readonly string[] = ['BmcAddressRefused', 'BmcTlsFailed', 'DriverInfoInvalid'];
const silent: readonly string[] = ['BmcUnreachable', 'BmcBusy'];

/** Silence shows the restart; other errors prove nothing. */
const lookOnce = async (client: Client, at: At, { before, accepted }: Announced): Promise<RestartLook> => {
  const earlier = before as Before;
  try {
    const { value: manager } = await client.get(at.manager, Manager);
    const { value: system } = await client.get(at.system, System);
    const begun = await hasRestarted(client, earlier, manager);
    return { good: system.PowerState !== undefined, begun, answers: true };
  } catch (error) {
    client.context.signal.throwIfAborted();
    if (!isTemperError(error) || lastingCodes.includes(error.code)) throw error;
    // A reported LastResetTime outweighs silence.
    const begun = silent.includes(error.code) && (accepted || earlier.last_reset_time === null);
    return { good: false, begun, answers: false };
  }
};

/** A restart ends sessions. This is the proof for BMCs without LastResetTime. */
const sessionIsGone = async (client: Client, session: string | null): Promise<boolean> =>
  session !== null && client.connection.session() !== session && !(await client.find(session, Anything));

const hasRestarted = async (client: Client, before: Before, manager: Manager): Promise<boolean> =>
  manager.LastResetTime !== undefined
    ? manager.LastResetTime !== before.last_reset_time
    : sessionIsGone(client, before.session);

const sendReset = async (client: Client, { at, manager }: BmcResetFound): Promise<Announced> => {
  const intents = announcements(client.context, { bmc: at.manager, system: at.system });
  const action = manager.Actions?.['#Manager.Reset'];
  const allowed = await allowableValues(client, action, 'ResetType');
  const kind = allowed ? resetTypes.find((one) => allowed.includes(one)) : resetTypes[0];
  if (action === undefined || kind === undefined) return raise('BmcUnsupported', client.facts({ what }));
  const before: Before = {
    last_reset_time: manager.LastResetTime ?? null,
    session: client.connection.session() ?? null,
  };
  const command = () => client.post(action.target, { ResetType: kind }, what);
  return (await announceAndSend(client, intents, { before, command })).announced;
};

const watchReset = (client: Client, at: At, announced: Announced): Promise<void> =>
  untilBack(client, announced, () => lookOnce(client, at, announced));

/** A later attempt may start while the BMC is unreachable, so the intent has the paths. */
export const resetBmc = async (client: Client): Promise<ActOutcome> => {
  const last = await client.context.intents.last();
  const known = last && last.detail.withdrawn !== true ? last : undefined;
  if (known) {
    const { bmc, system } = known.detail.desired as { bmc: string; system: string };
    const announced = await announcements(client.context, { bmc, system }).last();
    await watchReset(client, { manager: bmc, system }, announced!);
  } else {
    const found = await find(client);
    await watchReset(client, found.at, await sendReset(client, found));
  }
  return { is: 'done', note: 'the BMC is back' };
};
