/** Check of `temper doctor`: whether Glance shows images to Temper's own user. */
import type { Finding } from '../../cli';
import { imageService } from '../glance';
import { sessionFrom } from '../openstack';
import { ConfigFault } from '../settings/fault';
import type { LookedAt } from '../settings/temper-settings';

const off: Finding = { is: 'skipped', says: 'TEMPER_GLANCE_IMAGES is not set here' };

const failedFinding = (says: string, todo: string): Finding => ({ is: 'failed', says, todo });

const findingOf = async (config: LookedAt): Promise<Finding> => {
  const session = sessionFrom(config, 'TEMPER_GLANCE_IMAGES');
  try {
    const answer = await session.ask(imageService(config.TEMPER_GLANCE_URL), {
      method: 'GET',
      path: '/images?limit=1',
    });
    if (answer.is === 'down') return failedFinding(answer.reason, 'Correct TEMPER_GLANCE_URL, or what Keystone lists.');
    if (answer.status === 200) return { is: 'ok', says: `lists images for user ${config.TEMPER_IDENTITY_USERNAME}` };
    const todo =
      answer.status === 403
        ? `Give user ${config.TEMPER_IDENTITY_USERNAME} of Keystone the role reader, or admin for private images.`
        : 'Correct TEMPER_GLANCE_URL, and look at the log of Glance.';
    return failedFinding(`answered ${answer.status} to a list of images`, todo);
  } finally {
    await session.close();
  }
};

export const glanceAnswers = (config: LookedAt) => ({
  name: 'Glance',
  async find(): Promise<Finding> {
    if (!config.TEMPER_GLANCE_IMAGES) return off;
    try {
      return await findingOf(config);
    } catch (thrown) {
      if (!(thrown instanceof ConfigFault)) throw thrown;
      return failedFinding(thrown.message, 'Mend these settings.');
    }
  },
});
