/** Opens an act's secrets, each only for its own place, and BMC credentials only for their BMC. */

import type { AgentContact, BmcNode } from '../bmc/contract';
import type { Inventory } from '../inventory';
import { type BoxedSecret, boundOf, type Opener } from '../inventory/secrets/sealing';
import { type BmcSide, bmcSideOf, movedField } from '../model/access/bmc-sides';
import { resolveSecrets, secretPlaces, secretTexts } from '../model/access/secrets';
import type { Document } from '../model/document';
import { raise } from '../model/errors';
import { driverRow, drivers, isDriver } from '../model/lifecycle/drivers';

export type SecretDeps = { readonly inventory: Pick<Inventory, 'secrets'>; readonly vault: Opener };

export type HoldingNode = {
  readonly uuid: string;
  readonly name: string | null;
  readonly driver: string;
  readonly driver_info: Document;
  readonly instance_info?: Document;
  readonly agent?: unknown;
};

/** A node field with its key, the ramdisk's token, or a path in step arguments. */
type Place = 'instance_info' | 'agent' | { readonly args: string } | { readonly driver_info: string };

const isUnder = (path: string, prefix: string): boolean => path === prefix || path.startsWith(`${prefix}/`);

// Images for BMC or firmware. A URL with an account is sealed whole; the step that boots from it has it as an argument.
const imageUrls: ReadonlySet<string> = new Set(
  Object.keys(drivers).flatMap((name) =>
    isDriver(name)
      ? Object.entries(driverRow(name).properties).flatMap(([key, { url }]) => (url ? [`/driver_info/${key}`] : []))
      : [],
  ),
);

const isOfBmc = ({ path }: BoxedSecret): boolean => isUnder(path, '/driver_info');

// Holders of a run's steps, including the run that it resumes.
const stepHolders: ReadonlySet<string> = new Set(['run', 'runbook', 'deploy_template']);

/** An edit or a retry may move an entry in a list. */
const anyPosition = (path: string): string => path.replace(/\/\d+(?=\/|$)/g, '/*');

/** The step index is ignored, because a resumed step may have another. */
const isArg = ({ holder, path }: BoxedSecret, at: string): boolean => {
  const start = path.indexOf('/args/');
  if (start < 0 || !stepHolders.has(holder)) return false;
  return anyPosition(path.slice(start + '/args'.length)) === anyPosition(at);
};

const isFor = (row: BoxedSecret, place: Place, node: HoldingNode): boolean => {
  const ofNode = row.holder === 'node' && row.holder_id === node.uuid;
  if (place === 'agent') return row.holder === 'agent' && row.holder_id === node.uuid;
  if (place === 'instance_info') return ofNode && !isOfBmc(row);
  if ('args' in place) return isArg(row, place.args) || (ofNode && (!isOfBmc(row) || imageUrls.has(row.path)));
  return ofNode && isUnder(row.path, `/driver_info/${place.driver_info}`);
};

/** Throws CredentialsMoved. */
const checkBmc = (row: BoxedSecret, node: HoldingNode): void => {
  if (row.bound === null || row.bound === boundOf(node)) return;
  const field = movedField(JSON.parse(row.bound) as BmcSide, bmcSideOf(node));
  if (field !== undefined) raise('CredentialsMoved', { node: node.name ?? node.uuid, field });
};

const labelOf = (place: Place): string => {
  if (typeof place === 'string') return place;
  return 'args' in place ? `args${place.args.replaceAll('/', '.')}` : `driver_info.${place.driver_info}`;
};

/** Values by id; dangling references are left out. Throws SecretMisplaced, CredentialsMoved, SecretKeyMissing. */
export const openSecrets = async (
  node: HoldingNode,
  args: unknown,
  { inventory, vault }: SecretDeps,
): Promise<Map<string, unknown>> => {
  const within = (document: unknown, placeOf: (path: string) => Place) =>
    secretPlaces(document).map(({ id, path }) => ({ id, place: placeOf(path) }));
  const wanted = [
    ...Object.entries(node.driver_info).flatMap(([key, value]) => within(value, () => ({ driver_info: key }))),
    ...within(node.instance_info, () => 'instance_info'),
    ...within(node.agent, () => 'agent'),
    ...within(args, (path) => ({ args: path })),
  ];
  const rows = new Map(
    (await inventory.secrets.read([...new Set(wanted.map(({ id }) => id))])).map((row) => [row.id, row]),
  );
  const values = new Map<string, unknown>();
  for (const { id, place } of wanted) {
    const row = rows.get(id);
    if (!row) continue;
    if (!isFor(row, place, node)) raise('SecretMisplaced', { node: node.name ?? node.uuid, field: labelOf(place) });
    checkBmc(row, node);
    if (!values.has(id)) values.set(id, vault.open(row));
  }
  return values;
};

export type FoundNode = Omit<BmcNode, 'agent'> & { readonly agent?: unknown };

/** Resolves secrets, which must not leave the worker; `texts` must be hidden. */
export const unlocked = async <Args>(
  found: FoundNode,
  given: Args,
  deps: SecretDeps,
): Promise<{ readonly node: BmcNode; readonly args: Args; readonly texts: readonly string[] }> => {
  const values = await openSecrets(found, given, deps);
  const resolved = <T>(document: T): T => resolveSecrets(document, values) as T;
  const { driver_info, instance_info, agent } = found;
  return {
    node: {
      ...found,
      driver_info: resolved(driver_info),
      instance_info: resolved(instance_info),
      agent: resolved(agent as AgentContact | null | undefined) ?? undefined,
    },
    args: resolved(given),
    texts: secretTexts(values.values(), [found.name, found.uuid]),
  };
};
