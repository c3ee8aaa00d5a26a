/** `temper import`, with settings and database role of an API process. */
import { userInfo } from 'node:os';
import { type Installation, stop } from '../../cli';
import { importIronic, openSource, SourceFault } from '../../import';
import { createInventory } from '../../inventory';
import { connect } from '../../inventory/database';
import { createSealer } from '../../inventory/secrets/sealing';
import { processes } from '../settings/config';
import { ConfigFault } from '../settings/fault';
import { parseSettings } from '../settings/read';

const schema = processes.api.pick({ TEMPER_DATABASE_URL: true, TEMPER_SECRETS_PUBLIC_KEYS: true });

const settingsOf = (env: NodeJS.ProcessEnv) => {
  try {
    return parseSettings(schema, env);
  } catch (thrown) {
    if (thrown instanceof ConfigFault) return stop('usage', thrown.message);
    throw thrown;
  }
};

const opened = (url: string) =>
  openSource(url).catch((thrown) => {
    if (thrown instanceof SourceFault) return stop('refused', thrown.message);
    throw thrown;
  });

/** Throws CliFault: usage, or refused if the database cannot be imported. */
export const ironicInto = async (
  env: NodeJS.ProcessEnv,
  { url, ...wish }: Parameters<Installation['importIronic']>[0],
): ReturnType<Installation['importIronic']> => {
  const settings = settingsOf(env);
  const source = await opened(
    url || stop('usage', 'Give --from or set TEMPER_IMPORT_URL: the address of Ironic’s database.'),
  );
  const inventory = createInventory(connect(settings.TEMPER_DATABASE_URL, { max: 2, name: 'temper-import' }));
  try {
    const sealer = createSealer(settings.TEMPER_SECRETS_PUBLIC_KEYS);
    return await importIronic(source, { inventory, sealer, user: userInfo().username }, wish);
  } catch (thrown) {
    if (thrown instanceof SourceFault) return stop('refused', thrown.message);
    throw thrown;
  } finally {
    await source.close();
    await inventory.close();
  }
};
