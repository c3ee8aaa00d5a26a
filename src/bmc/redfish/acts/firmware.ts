/** Firmware updates by SimpleUpdate, one component after the other. */

import { isTemperError, raise, TemperError } from '../../../model/errors';
import { ownValue } from '../../../model/own';
import type { ActOutcome, FirmwareComponent } from '../../../model/runs/runs';
import { shortDigest } from '../../digest';
import { pause } from '../../wait';
import { allowableValues, findSystem, membersOf } from '../discovery/discovery';
import { type FirmwarePart, readParts } from '../discovery/firmware-parts';
import { type Job, tryRead } from '../jobs/job';
import { openLedger } from '../jobs/job-ledger';
import { JobRoot, UpdateService } from '../jobs/job-resources';
import { performJobs } from '../jobs/jobs';
import type { Client, Sent } from '../transport/client';
import { plainFacts } from '../transport/plain-urls';
import { seenPower } from './restart';

const firmwareStep = 'firmware.update';

/** `wait`: seconds to wait after the new version shows. */
type FirmwareItem = { readonly component: string; readonly url: string; readonly wait?: number };

/**
 * openstack/ironic:ironic/drivers/modules/redfish/firmware.py. A waiting NIC task may only be preparing, so its restart comes later.
 * `waits` counts pauses.
 */
const componentKinds: Readonly<Record<string, { readonly restart: Job['restart']; readonly waits: number }>> = {
  bios: { restart: 'if it waits', waits: 0 },
  bmc: { restart: 'never', waits: 0 },
  nic: { restart: 'if it waits', waits: 30 },
};

const componentKind = (component: string) => ownValue(componentKinds, component.replace(/:.*/, ''));

const firmwareLimitMs = 2 * 60 * 60_000;

/** Looks in a row, pauses between them, and maximum of looks. */
const goodLooks = 3;
const looksApart = 30;
const mostLooks = 16;

const protocolOf = (url: string): 'HTTP' | 'HTTPS' | undefined => {
  const { protocol } = URL.canParse(url) ? new URL(url) : { protocol: '' };
  return ({ 'http:': 'HTTP', 'https:': 'HTTPS' } as const)[protocol];
};

/** Origins are checked when the step is accepted. */
const checkUrl = ({ component, url }: FirmwareItem): void => {
  if (protocolOf(url) === undefined)
    raise('InvalidStepArgs', {
      step: firmwareStep,
      reason: `the url of component ${component} must begin with http:// or https://`,
    });
};

const checkComponent = (parts: readonly FirmwarePart[], { component }: FirmwareItem): void => {
  if (componentKind(component) && parts.some((part) => part.component === component)) return;
  const known = parts.map((part) => part.component).join(', ');
  const hint = component.startsWith('nic') ? '; some BMCs show network adapters only while the node runs' : '';
  raise('InvalidStepArgs', {
    step: firmwareStep,
    reason: `component ${component} is not known on this node; it has: ${known}${hint}`,
  });
};

const prefixOf = (client: Client): string => client.connection.settings.address.prefix;
const rootOf = async (client: Client) => (await client.get(`${prefixOf(client)}/redfish/v1/`, JobRoot)).value;

type Updater = { readonly target: string; readonly targets?: readonly string[] };

/** `targets` is set only if the BMC has several systems. */
const findUpdater = async (client: Client, items: readonly FirmwareItem[]): Promise<Updater> => {
  const root = await rootOf(client);
  const service = await client.find(root.UpdateService?.['@odata.id'], UpdateService);
  const action = service?.value.Actions?.['#UpdateService.SimpleUpdate'];
  if (!action) return raise('BmcUnsupported', client.facts({ what: 'firmware updates (UpdateService.SimpleUpdate)' }));
  const allowed = await allowableValues(client, action, 'TransferProtocol');
  const other = allowed && items.map(({ url }) => protocolOf(url)!).find((protocol) => !allowed.includes(protocol));
  if (other) return raise('BmcUnsupported', client.facts({ what: `firmware images by ${other}` }));
  const systems = await membersOf(client, root.Systems?.['@odata.id']);
  return { target: action.target, ...(systems.length > 1 && { targets: [(await findSystem(client)).path] }) };
};

const versionOf = async (client: Client, component: string): Promise<string | null> =>
  (await readParts(client)).find((part) => part.component === component)?.version ?? null;

/** If the image name has this version, an update changes nothing. */
const isNamed = (url: string, version: string): boolean =>
  (new URL(url).pathname.split('/').at(-1) ?? '').includes(version);

/** After an update a BMC may answer partly or restart again. */
const settleAfterUpdate = async (client: Client, { wait }: FirmwareItem): Promise<void> => {
  const { timing, signal, beat } = client.context;
  await pause((wait ?? 0) * 1_000, signal);
  let good = 0;
  for (let looks = 0; good < goodLooks; looks += 1) {
    const seen = await tryRead(client, true, () => readParts(client));
    if (isTemperError(seen) && looks >= mostLooks) throw seen;
    good = isTemperError(seen) ? 0 : good + 1;
    beat({ what: 'firmware', doing: 'waiting for the BMC to settle', good_looks: good });
    if (good < goodLooks) await pause(looksApart * timing.pollMs, signal);
  }
};

const simpleUpdate = (
  client: Client,
  { target, targets }: Updater,
  { url }: FirmwareItem,
  key: string,
): Promise<Sent> => {
  const body = { ImageURI: url, TransferProtocol: protocolOf(url), ...(targets && { Targets: targets }) };
  return client.post(target, body, key);
};

const jobFor = (client: Client, updater: Updater, item: FirmwareItem): Job => {
  const { component, url } = item;
  const { restart, waits } = componentKind(component)!;
  const key = `update ${component}`;
  return {
    key,
    limitMs: firmwareLimitMs,
    before: () => versionOf(client, component),
    send: () => simpleUpdate(client, updater, item, key),
    effect: async (before, endedWell) => {
      const now = await versionOf(client, component);
      const changed = now !== null && now !== before;
      return { shows: changed || (endedWell && now !== null && isNamed(url, now)), seen: `version ${now}, as before` };
    },
    restart,
    waitMs: waits * client.context.timing.pollMs,
    away: true,
    after: () => settleAfterUpdate(client, item),
  };
};

/** A BMC may quote the image's URL with its token. */
const withoutTokens = (error: unknown): unknown =>
  isTemperError(error) ? new TemperError(error.code, plainFacts(error.facts)) : error;

const flashed = (parts: readonly FirmwarePart[], items: readonly FirmwareItem[]): FirmwareComponent[] =>
  parts.map(({ component, version }) => ({
    component,
    current_version: version,
    ...(items.some((item) => item.component === component) && { last_version_flashed: version }),
  }));

const updateAll = async (client: Client, items: readonly FirmwareItem[]): Promise<ActOutcome> => {
  const desired = { images: items.map(({ component, url }) => ({ component, image: shortDigest(url) })) };
  const ledger = await openLedger(client.context, desired);
  // The ledger keeps it, because a later attempt may start while the BMC is unreachable.
  const updater = await ledger.plan(async () => {
    const parts = await readParts(client);
    for (const item of items) checkComponent(parts, item);
    return findUpdater(client, items);
  });
  for (const item of items) await performJobs({ client, ledger }, [jobFor(client, updater, item)]);
  const parts = await readParts(client);
  const versions = items.map(
    ({ component }) => `${component} ${parts.find((part) => part.component === component)?.version}`,
  );
  return {
    is: 'done',
    note: versions.join(', '),
    seen: { ...(await seenPower(client)), firmware: flashed(parts, items) },
  };
};

/** Updates in the given order. Throws InvalidStepArgs before anything is sent, else performJobs's errors. */
export const updateFirmware = async (client: Client, args: Readonly<Record<string, unknown>>): Promise<ActOutcome> => {
  const items = args.settings as readonly FirmwareItem[];
  for (const item of items) checkUrl(item);
  const twice = items.find(({ component }, index) =>
    items.some((other, at) => at < index && other.component === component),
  );
  if (twice) raise('InvalidStepArgs', { step: firmwareStep, reason: `component ${twice.component} is listed twice` });
  return updateAll(client, items).catch((error: unknown) => {
    throw withoutTokens(error);
  });
};
