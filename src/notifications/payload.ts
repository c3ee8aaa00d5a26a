/** A payload as oslo.versionedobjects writes it, from a row of PostgreSQL. */
import { isSecretKey, masked, maskSecrets } from '../model/access/secrets';
import { type Document, isDocument, type Json } from '../model/document';
import type { Notice } from '../model/notifications/notice';
import { payloadRow } from '../model/notifications/payloads';
import { digestOf, longestRecord } from '../model/resources/recorded';

/** Whole seconds of UTC. oslo_versionedobjects/_utils.py isotime. */
const isoTime = (value: Json): Json => {
  const ms = Date.parse(String(value));
  return Number.isNaN(ms) ? null : `${new Date(ms).toISOString().slice(0, 19)}Z`;
};

/** oslo.utils masks a secret key also if its value is empty. openstack/oslo.utils:oslo_utils/strutils.py mask_dict_password. */
const maskEmpty = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(maskEmpty);
  if (!isDocument(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      isSecretKey(key) && !isDocument(inner) ? masked : maskEmpty(inner),
    ]),
  );
};

/** openstack/ironic:ironic/objects/notification.py mask_secrets. */
const maskAsIronic = (value: Json): Json => {
  const safe = maskEmpty(value);
  return isDocument(safe) && 'image_url' in safe ? { ...safe, image_url: masked } : safe;
};

// A broker refuses messages of some MiB, and would refuse the next attempt as well.
const bounded = (value: Json): Json => {
  if (typeof value !== 'object' && typeof value !== 'string') return value;
  return Buffer.byteLength(JSON.stringify(value)) > longestRecord ? digestOf(value) : value;
};

const fieldValue = (name: string, value: Json, { asIronic }: { readonly asIronic: boolean }): Json => {
  if (value === null || value === undefined) return null;
  if (name.endsWith('_at')) return isoTime(value);
  // Steps, targets of volumes and free documents may hold secrets too, which Ironic sends as they are.
  const safe = maskSecrets(value);
  return bounded(asIronic ? maskAsIronic(safe) : safe);
};

/** openstack/ironic:ironic/objects/notification.py redacted_contents. */
const notPublished = { redacted_contents: '** Value redacted: not published on the notification bus. **' } as const;

// Ironic has no null for them.
const emptyDocuments: readonly string[] = [
  'clean_step',
  'deploy_step',
  'driver_info',
  'extra',
  'instance_info',
  'properties',
];

// Objects that are not stored yet have these and nothing else.
const unset: Readonly<Record<string, Json>> = { traits: [] };

/** @param row of the table, columns by name; absent if nothing remains of it */
export const payloadOf = ({ payload, values, only }: Notice, uuid: string, row: Document = {}): Document => {
  const { name, version, fields, facts = [], masked: asIronic = [], redacted = [] } = payloadRow(payload);
  const stored = (field: string): Json => (only === undefined || only.includes(field) ? row[field] : unset[field]);
  const of = (field: string): Json => (field in values ? values[field] : stored(field));
  const shown = (field: string): Json => {
    if (redacted.includes(field)) return notPublished;
    return (
      fieldValue(field, of(field), { asIronic: asIronic.includes(field) }) ??
      (emptyDocuments.includes(field) ? {} : null)
    );
  };
  const data = Object.fromEntries([...fields, ...facts].map((field) => [field, shown(field)]));
  return {
    'ironic_object.name': name,
    'ironic_object.namespace': 'ironic',
    'ironic_object.version': version,
    'ironic_object.data': { ...data, uuid },
  };
};
