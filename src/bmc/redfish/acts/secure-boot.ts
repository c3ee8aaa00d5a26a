/** Secure boot: its switch and its keys. */
import { raise } from '../../../model/errors';
import type { ActOutcome } from '../../../model/runs/runs';
import { converge } from '../../converge';
import { allowableValues, findSystem } from '../discovery/discovery';
import { SecureBoot } from '../discovery/resources';
import type { Client } from '../transport/client';
import { secureBootOf } from './verify';

const findSecureBoot = async (client: Client) => {
  const { value: system } = await (await findSystem(client)).look();
  const path = system.SecureBoot?.['@odata.id'];
  const first = await client.find(path, SecureBoot);
  if (path === undefined || first === undefined) return raise('BmcUnsupported', client.facts({ what: 'secure boot' }));
  const look = async () => (await client.get(path, SecureBoot)).value;
  return { path, look, system };
};

export const setSecureBoot = async (client: Client, args: Readonly<Record<string, unknown>>): Promise<ActOutcome> => {
  const enabled = args.enabled === true;
  const what = `set secure boot ${enabled ? 'on' : 'off'}`;
  const { path, look, system } = await findSecureBoot(client);
  if (enabled && system.Boot?.BootSourceOverrideMode === 'Legacy')
    return raise(
      'StepRejected',
      client.facts({ step: what, reason: 'the node boots in BIOS mode; set boot mode uefi first' }),
    );
  const { state } = await converge<SecureBoot>(client, {
    what,
    desired: { secure_boot: enabled, path },
    timeoutMs: client.context.timing.powerTimeoutMs,
    look,
    reached: (now) => now.SecureBootEnable === enabled,
    act: () => client.patch(path, { SecureBootEnable: enabled }, what),
    show: (now) => `${now.SecureBootEnable === true ? 'enabled' : 'disabled'}`,
    again: 'now',
    // Some BMCs show the old value until the next boot.
    trusts: true,
  });
  const now = secureBootOf(state);
  return { is: 'done', note: now === enabled ? what : 'takes effect at the next boot', seen: { secure_boot: now } };
};

const keyResets = {
  reset: { type: 'ResetAllKeysToDefault', leaves: ['UserMode', 'DeployedMode'], what: 'reset the secure boot keys' },
  clear: { type: 'DeleteAllKeys', leaves: ['SetupMode'], what: 'clear the secure boot keys' },
} as const;

/**
 * Keys cannot be compared with the vendor's, so a first attempt always sends. After a crash around the command, only a changed mode
 * proves its effect. Without that the outcome is unknown.
 */
export const resetSecureBootKeys = async (client: Client, which: keyof typeof keyResets): Promise<ActOutcome> => {
  const { type, leaves, what } = keyResets[which];
  const { path, look } = await findSecureBoot(client);
  const arrived = (state: SecureBoot) => (leaves as readonly string[]).includes(state.SecureBootMode ?? '');
  await converge<SecureBoot>(client, {
    what,
    desired: { keys: type, path },
    timeoutMs: client.context.timing.powerTimeoutMs,
    look,
    reached: (state, announced) =>
      announced !== undefined && arrived(state) && state.SecureBootMode !== announced.before,
    act: async (state) => {
      const action = state.Actions?.['#SecureBoot.ResetKeys'];
      const allowed = await allowableValues(client, action, 'ResetKeysType');
      if (action === undefined || allowed?.includes(type) === false)
        return raise('BmcUnsupported', client.facts({ what }));
      return client.post(action.target, { ResetKeysType: type }, what);
    },
    show: (state) => state.SecureBootMode ?? 'no secure boot mode',
    again: 'never',
    trusts: true,
  });
  return { is: 'done', note: what };
};
