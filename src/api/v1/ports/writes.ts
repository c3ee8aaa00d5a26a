/** What a new or changed port becomes. Decides; does not write. */
import { isDeepStrictEqual } from 'node:util';
import type { NewPort } from '../../../inventory/nodes/ports';
import { raise } from '../../../model/errors';
import type { NodeUuid } from '../../../model/ids';
import { emptyValue } from '../../../model/resources/fields';
import { checkConnection, checkSmartNic } from '../../../model/resources/port-changes';
import { type Port, portTable } from '../../../model/resources/ports';
import { attributesOf, type Operation, patcherOf } from '../../resource/patch';

type Values = Readonly<Record<string, unknown>>;

const patched = patcherOf(portTable);

const stored = ['node_uuid', ...portTable.fields.filter((row) => row.create && !row.hidden).map((row) => row.name)];

/**
 * What is wrong with a port whatever its node: its connection, its kind. Throws InvalidInput, NotAcceptable.
 * @param connects whether the connection comes from the caller; one that was stored may hold keys of other versions
 */
const checked = (values: Values, minor: number, connects: boolean): Omit<NewPort, 'uuid'> => {
  const port = values as Omit<NewPort, 'uuid'>;
  const { local_link_connection: given } = port;
  const whole = { ...port, local_link_connection: connects ? checkConnection(given, minor) : given };
  checkSmartNic(whole);
  return whole;
};

/** The ident of the node that a create request names, in one of two ways. Throws InvalidInput. */
export const homeIdent = (body: Values): string => {
  const given = [body.node_uuid, body.node_ident].filter((value) => value !== undefined);
  if (given.length !== 1)
    raise('InvalidInput', { field: 'node_uuid', reason: 'name the node once, by node_uuid or node_ident' });
  return String(given[0]);
};

/** The port that a create request describes, on a node. Throws InvalidInput. */
export const newPort = (body: Values, node_uuid: NodeUuid, minor: number): NewPort => {
  const defaults = Object.fromEntries(portTable.fields.map((row) => [row.name, emptyValue(row)]));
  const all: Values = { ...defaults, ...body, node_uuid };
  const { uuid, ...values } = Object.fromEntries(stored.map((name) => [name, all[name]]));
  return { ...checked(values, minor, true), ...(body.uuid === undefined ? {} : { uuid: uuid as string }) };
};

/** A port after a patch, the fields that really differ, and the node it is to move to. Throws InvalidPatch, InvalidInput. */
export const patchedPort = (port: Port, patch: readonly Operation[], minor: number) => {
  const { node_ident, ...values } = patched(port as unknown as Values, patch);
  const named = attributesOf(patch);
  if (named.includes('node_ident') && named.includes('node_uuid'))
    raise('InvalidInput', { field: 'node_ident', reason: 'name the node once, by node_uuid or node_ident' });
  if (named.some((name) => name === 'node_ident' || name === 'node_uuid') && !(node_ident ?? values.node_uuid))
    raise('InvalidPatch', { reason: 'a port cannot be without a node.' });
  const { node_uuid, ...rest } = values;
  const all: Values = { ...port, ...rest };
  const result = checked(
    Object.fromEntries(stored.filter((name) => name !== 'uuid').map((name) => [name, all[name]])),
    minor,
    'local_link_connection' in rest,
  );
  const before = port as unknown as Values;
  const after = result as unknown as Values;
  return {
    port: result,
    changed: Object.keys(rest).filter((name) => !isDeepStrictEqual(before[name], after[name])),
    moveTo: (node_ident ?? node_uuid) as string | undefined,
  };
};
