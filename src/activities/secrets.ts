/** Opens the secrets that an act needs, each only at the place that it was given for and, of a BMC, for that BMC alone. */

import type { Inventory } from '../inventory';
import { boundOf, type Opener, type StoredSecret } from '../inventory/secrets/sealing';
import { type BmcSide, bmcSideOf, movedField } from '../model/access/bmc-sides';
import { secretPlaces } from '../model/access/secrets';
import type { Document } from '../model/document';
import { raise } from '../model/errors';
import { driverRow, drivers, isDriver } from '../model/lifecycle/drivers';

export type SecretDeps = { readonly inventory: Pick<Inventory, 'secrets'>; readonly vault: Opener };

/** A node whose documents hold references. */
export type HoldingNode = {
  readonly uuid: string;
  readonly name: string | null;
  readonly driver: string;
  readonly driver_info: Document;
  readonly instance_info?: Document;
  readonly agent?: unknown;
};

/** Where a reference stands: a field of the node with its key, the ramdisk's token, or a path within the arguments of a step. */
type Place = 'instance_info' | 'agent' | { readonly args: string } | { readonly driver_info: string };

const isUnder = (path: string, prefix: string): boolean => path === prefix || path.startsWith(`${prefix}/`);

const bmcSecrets: ReadonlySet<string> = new Set(
  Object.keys(drivers).flatMap((name) =>
    isDriver(name)
      ? Object.entries(driverRow(name).properties).flatMap(([key, { secret }]) => (secret ? [`/${key}`] : []))
      : [],
  ),
);

// Images that a BMC or the firmware fetches; a URL with an account in it is sealed as a whole, and is an argument of the step
// that starts the node from it.
const imageUrls: ReadonlySet<string> = new Set(
  Object.keys(drivers).flatMap((name) =>
    isDriver(name)
      ? Object.entries(driverRow(name).properties).flatMap(([key, { url }]) => (url ? [`/driver_info/${key}`] : []))
      : [],
  ),
);

// Before there were pairs of keys, paths began with the key within their field.
const isOfBmc = ({ path, boxes }: StoredSecret): boolean =>
  boxes === null ? bmcSecrets.has(path) : isUnder(path, '/driver_info');

// Whose steps a run carries: its own, or those of a run that it takes up; a runbook's, a template's.
const stepHolders: ReadonlySet<string> = new Set(['run', 'runbook', 'deploy_template']);

/** A path whose positions in lists count as equal: an edit, or a retry with other arguments, may move an entry. */
const anyPosition = (path: string): string => path.replace(/\/\d+(?=\/|$)/g, '/*');

/** Whether a secret of a step's arguments stands at this path of them; a step that is taken up may have another index. */
const isArg = ({ holder, path, boxes }: StoredSecret, at: string): boolean => {
  const start = path.indexOf('/args/');
  if (!stepHolders.has(holder)) return false;
  return boxes === null || (start >= 0 && anyPosition(path.slice(start + '/args'.length)) === anyPosition(at));
};

/** Whether a secret may be used at a place. What is sealed with a pair cannot claim another place than it has. */
const isFor = (row: StoredSecret, place: Place, node: HoldingNode): boolean => {
  const ofNode = row.holder === 'node' && row.holder_id === node.uuid;
  if (place === 'agent') return row.holder === 'agent' && row.holder_id === node.uuid;
  if (place === 'instance_info') return ofNode && !isOfBmc(row);
  if ('args' in place) return isArg(row, place.args) || (ofNode && (!isOfBmc(row) || imageUrls.has(row.path)));
  return ofNode && isUnder(row.path, `${row.boxes === null ? '' : '/driver_info'}/${place.driver_info}`);
};

/** Refuses to open credentials for another BMC than they were given for. Throws CredentialsMoved. */
const checkBmc = (row: StoredSecret, node: HoldingNode): void => {
  if (row.bound === null || row.bound === boundOf(node)) return;
  const field = movedField(JSON.parse(row.bound) as BmcSide, bmcSideOf(node));
  if (field !== undefined) raise('CredentialsMoved', { node: node.name ?? node.uuid, field });
};

const labelOf = (place: Place): string => {
  if (typeof place === 'string') return place;
  return 'args' in place ? `args${place.args.replaceAll('/', '.')}` : `driver_info.${place.driver_info}`;
};

/**
 * The values of all references in a node's documents and in a step's arguments, by id; a reference to nothing is left out.
 * Throws SecretMisplaced, CredentialsMoved, SecretKeyMissing.
 */
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
