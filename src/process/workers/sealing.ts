/** Keys of a BMC worker, and resealing of secrets with another key. */
import { resealOne } from '../../activities/resealing';
import type { Inventory } from '../../inventory';
import { privateKey } from '../../inventory/secrets/sealed-box';
import {
  createOpener,
  createSealer,
  type Opener,
  ownSealKeys,
  type Sealer,
  type SealKeys,
} from '../../inventory/secrets/sealing';
import type { Logger } from '../../observe/log';
import type { Life } from '../process';
import type { BmcConfig } from '../settings/config';
import { ConfigFault } from '../settings/fault';

export type Vaults = { readonly opener: Opener; readonly sealer: Sealer; readonly keys?: SealKeys };
type SealingSettings = Pick<
  BmcConfig,
  'TEMPER_SECRETS_PRIVATE_KEYS' | 'TEMPER_SECRETS_PUBLIC_KEYS' | 'TEMPER_CONDUCTOR_GROUP'
>;

/** Throws ConfigFault without the group's private key: the worker could open no secret entered from then on. */
const checkHeld = (settings: SealingSettings, keys: SealKeys): void => {
  const { TEMPER_CONDUCTOR_GROUP: group, TEMPER_SECRETS_PRIVATE_KEYS: held } = settings;
  const wanted = keys.find((key) => key.group === group) ?? keys.find((key) => key.group === null)!;
  const own = held.get(wanted.id);
  if (own && privateKey(wanted.id, own).raw.equals(wanted.raw)) return;
  throw new ConfigFault([
    `TEMPER_SECRETS_PRIVATE_KEYS: lacks the private half of ${wanted.id}, to which TEMPER_SECRETS_PUBLIC_KEYS seals the secrets of this worker’s conductor group.`,
  ]);
};

/** Throws ConfigFault if the keys do not match. */
export const vaultsOf = (settings: SealingSettings): Vaults => {
  const { TEMPER_SECRETS_PRIVATE_KEYS: held, TEMPER_SECRETS_PUBLIC_KEYS: keys } = settings;
  if (keys) checkHeld(settings, keys);
  return {
    opener: createOpener(held),
    sealer: createSealer(keys ?? ownSealKeys(held)),
    ...(keys && { keys }),
  };
};

const resealEveryMs = 60_000;
const secretsAtOnce = 200;

/**
 * Reseals secrets of nodes that left this conductor group, and secrets of its old keys. Requires the public keys of
 * all groups.
 */
export const startResealing = (
  { inventory, opener, sealer, keys, log }: Vaults & { readonly inventory: Inventory; readonly log: Logger },
  life: Life,
): void => {
  if (!keys) return;
  const keyOf = Object.fromEntries(keys.flatMap(({ id, group }) => (group === null ? [] : [[group, id]])));
  const general = keys.find(({ group }) => group === null)!.id;
  const pass = async (): Promise<void> => {
    const rows = await inventory.resealing.strayed(opener.keyIds, keyOf, general, secretsAtOnce);
    for (const row of rows) await resealOne(row, { inventory, opener, sealer });
    if (rows.length > 0) log.info('secrets sealed again', { count: rows.length });
  };
  let passing: Promise<void> | undefined;
  const begin = () => {
    passing ??= pass()
      .catch((error) => log.warn('secrets were not sealed again', { error }))
      .finally(() => {
        passing = undefined;
      });
  };
  begin();
  const timer = setInterval(begin, resealEveryMs);
  life.onEnd(async () => {
    clearInterval(timer);
    await passing;
  });
};
