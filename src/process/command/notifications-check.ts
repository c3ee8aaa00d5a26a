/** Check of `temper doctor`: whether Ironic's notifications are sent. */
import type { Finding } from '../../cli';
import type { Sql } from '../../inventory/database';
import { notifications } from '../../inventory/notifications';

const farBehindSeconds = 300;
/** Longer than the pause of a process that sends, or waits for RabbitMQ. */
const silentSeconds = 120;

const rounded = (seconds: number): string => `${Math.round(seconds)} s`;

export const notificationsStand = async (sql: Sql): Promise<Finding> => {
  const stored = notifications(sql);
  const standing = await stored.standing();
  if (!standing) return { is: 'skipped', says: 'no process that sends them has run' };
  const behind = await stored.behindSeconds();
  const says = `the oldest event that waits is ${rounded(behind)} old`;
  if (standing.silentSeconds > silentSeconds)
    return {
      is: 'failed',
      says: `no process sends them since ${rounded(standing.silentSeconds)}; ${says}`,
      todo: 'Start `notifications`, if a service still listens.',
    };
  if (behind > farBehindSeconds)
    return { is: 'failed', says, todo: 'Look at RabbitMQ, and at the log of the process `notifications`.' };
  return { is: 'ok', says: behind === 0 ? 'all are sent' : says };
};
