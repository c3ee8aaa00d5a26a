/** Checks of `temper doctor`: whether Nova takes power events, and whether all were taken. */
import { randomUUID } from 'node:crypto';
import type { Finding } from '../../cli';
import type { Sql } from '../../inventory/database';
import { powerNotices } from '../../inventory/power-notices';
import { ConfigFault } from '../settings/fault';
import type { LookedAt } from '../settings/temper-settings';
import { type ComputeSettings, computeFrom } from '../workers/openstack';

const off: Finding = { is: 'skipped', says: 'TEMPER_NOVA_POWER_EVENTS is not set here' };

/** Sends an event of a server that Nova cannot know. The answer shows the rights of the account, and nothing else happens. */
const tried = async (config: ComputeSettings): Promise<Finding> => {
  const compute = computeFrom(config);
  if (!compute) return off;
  const server_uuid = randomUUID();
  const body = JSON.stringify({ events: [{ name: 'power-update', server_uuid, tag: 'POWER_ON' }] });
  try {
    const answer = await compute.ask(body);
    if (answer.is === 'down')
      return { is: 'failed', says: answer.reason, todo: 'Correct TEMPER_NOVA_URL, or what Keystone lists.' };
    const { status } = answer;
    if (status === 200 || status === 207) return { is: 'ok', says: 'takes power events' };
    const todo =
      status === 403
        ? `Give user ${config.TEMPER_IDENTITY_USERNAME} of Keystone the role service.`
        : 'Correct TEMPER_NOVA_URL, and look at the log of Nova.';
    return { is: 'failed', says: `answered ${status} to a power event`, todo };
  } finally {
    await compute.close();
  }
};

export const novaAnswers = (config: LookedAt) => ({
  name: 'Nova',
  async find(): Promise<Finding> {
    try {
      return await tried(config);
    } catch (thrown) {
      if (!(thrown instanceof ConfigFault)) throw thrown;
      return { is: 'failed', says: thrown.message, todo: 'Mend these settings.' };
    }
  },
});

export const noticesStand = async (sql: Sql, config: LookedAt): Promise<Finding> => {
  if (!config.TEMPER_NOVA_POWER_EVENTS) return off;
  const { waiting, failed, error } = await powerNotices(sql).standing();
  const last = error === null ? '' : `; last: ${error}`;
  const says = `${waiting} changes of power wait for Nova, and ${failed} were given up${last}`;
  return failed === 0 && error === null
    ? { is: 'ok', says }
    : { is: 'failed', says, todo: 'Look at the check of Nova, and at the log of the control workers.' };
};
