/** `temper secrets`, with settings and database role of a BMC worker. */
import { userInfo } from 'node:os';
import { type Move, makeMove, moveOf, resealAll } from '../../activities/resealing';
import { type SecretsTool, stop } from '../../cli';
import { createInventory } from '../../inventory';
import { connect } from '../../inventory/database';
import { newPair } from '../../inventory/secrets/sealed-box';
import type { BmcSide } from '../../model/access/bmc-sides';
import { asUuid } from '../../model/ids';
import { processes } from '../settings/config';
import { ConfigFault } from '../settings/fault';
import { parseSettings } from '../settings/read';
import { vaultsOf } from '../workers/sealing';

const schema = processes.bmc.pick({
  TEMPER_DATABASE_URL: true,
  TEMPER_SECRETS_PRIVATE_KEYS: true,
  TEMPER_SECRETS_PUBLIC_KEYS: true,
  TEMPER_CONDUCTOR_GROUP: true,
});

/** @returns both halves in base64 */
export const newKeys = (): { readonly public: string; readonly private: string } => {
  const { publicRaw, privateRaw } = newPair();
  return { public: publicRaw.toString('base64'), private: privateRaw.toString('base64') };
};

const sideText = ({ driver, destination, verify_ca, proves, way }: BmcSide): string =>
  [
    destination ?? 'no address',
    `driver ${driver}`,
    verify_ca !== undefined && `redfish_verify_ca ${verify_ca}`,
    proves === false && 'IPMI 1.5',
    way !== undefined && way !== '[]' && `bridged ${way}`,
  ]
    .filter(Boolean)
    .join(', ');

const secretsSettings = (env: NodeJS.ProcessEnv) => {
  try {
    const settings = parseSettings(schema, env);
    return { settings, vaults: vaultsOf(settings) };
  } catch (thrown) {
    if (thrown instanceof ConfigFault) return stop('usage', thrown.message);
    throw thrown;
  }
};

/** Throws CliFault (usage). */
export const secretsOf = (env: NodeJS.ProcessEnv): SecretsTool => {
  const { settings, vaults } = secretsSettings(env);
  const sql = connect(settings.TEMPER_DATABASE_URL, { max: 2, name: 'temper-secrets' });
  const deps = { inventory: createInventory(sql), opener: vaults.opener, sealer: vaults.sealer };
  return {
    keys: () => deps.inventory.resealing.keys(),
    reseal: () => resealAll(deps),
    async findMove(node) {
      const uuid = asUuid(node);
      const found: Move | undefined = await moveOf(uuid ? { uuid } : { name: node }, deps, () =>
        stop('refused', `There is no node ${node}.`),
      );
      return (
        found && {
          from: sideText(found.from),
          to: sideText(found.to),
          make: () => makeMove(found, userInfo().username, deps),
        }
      );
    },
    close: () => deps.inventory.close(),
  };
};
