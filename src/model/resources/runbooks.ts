/** Runbooks: named, ordered lists of steps, and their approval for nodes. */

import { raise } from '../errors';
import { isLogicalName, type RunbookUuid } from '../ids';
import { extraField, optionalText, recordFields, uuidField } from './common-fields';
import { type ResourceTable, sinceOf } from './fields';
import type { RunbookParameter } from './runbook-parameters';
import type { RunbookStep } from './runbook-steps';
import { isTrait } from './traits';

export const runbooksSince = 92;

/** Minor version from which the runbook's traits approve it and names are free. */
export const runbookTraitsSince = 112;

const updateRunbook = 'baremetal:runbook:update';

export const runbookTable: ResourceTable = {
  resource: 'runbook',
  collection: 'runbooks',
  fields: [
    { ...uuidField, since: 92 },
    {
      name: 'name',
      since: 92,
      type: 'text',
      inList: true,
      create: 'required',
      patch: updateRunbook,
      max: 255,
      form: { is: isLogicalName, says: '1-255 letters, digits and - . _ ~' },
    },
    { name: 'steps', since: 92, type: 'list', create: 'required', patch: updateRunbook, secret: true },
    {
      name: 'disable_ramdisk',
      since: 92,
      type: 'boolean',
      nullable: true,
      create: 'optional',
      patch: updateRunbook,
      default: false,
    },
    extraField(updateRunbook, { since: 92 }),
    {
      name: 'public',
      since: 92,
      type: 'boolean',
      nullable: true,
      create: 'optional',
      patch: 'baremetal:runbook:update:public',
      default: false,
    },
    optionalText('owner', 'baremetal:runbook:update:owner', { since: 92, min: 1 }),
    optionalText('description', updateRunbook, { since: runbookTraitsSince }),
    { name: 'traits', since: runbookTraitsSince, type: 'texts' },
    ...recordFields(92),
  ],
  filters: [{ name: 'project', since: 92, type: 'text', column: 'owner' }],
};

const firstTable: ResourceTable = {
  ...runbookTable,
  fields: runbookTable.fields.filter((row) => sinceOf(row) < runbookTraitsSince),
};

/**
 * Ironic's runbooks answer 400, not 406, to a field of a later version, so tables of older versions lack it.
 * openstack/ironic:ironic/api/schemas/v1/runbook.py
 */
export const runbookTableAt = (minor: number): ResourceTable =>
  minor < runbookTraitsSince ? firstTable : runbookTable;

/** Secrets in `steps` are references. */
export type Runbook = {
  readonly uuid: RunbookUuid;
  readonly name: string;
  readonly steps: readonly RunbookStep[];
  readonly disable_ramdisk: boolean;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly public: boolean;
  readonly owner: string | null;
  readonly description: string | null;
  readonly traits: readonly string[];
  /** Not in Ironic's API. */
  readonly parameters: readonly RunbookParameter[];
  /** From 1; PostgreSQL increments it. */
  readonly revision: number;
  readonly created_at: Date;
  readonly updated_at: Date | null;
};

/** Throws RevisionWithdrawn. @param withdrawn the reason; null if not withdrawn */
export const refuseWithdrawn = (runbook: string, revision: number, withdrawn: string | null): void => {
  if (withdrawn !== null) raise('RevisionWithdrawn', { runbook, revision, reason: withdrawn });
};

export type Approval = { readonly ok: true } | { readonly ok: false; readonly wanted: string };

/** Traits that approve a runbook at any version: its own, and a name with the form of a trait. */
export const marksOf = ({ name, traits }: Pick<Runbook, 'name' | 'traits'>): string[] => [
  ...new Set([...(isTrait(name) ? [name] : []), ...traits]),
];

/**
 * Below 1.112 the node has the runbook's name as a trait; later the two share a trait. `wanted` ends "the node needs ...".
 * openstack/ironic:ironic/api/controllers/v1/node.py (_handle_runbook)
 * @param byName the name replaces missing traits, at later versions too
 */
export const runbookApproval = (
  runbook: { readonly name: string; readonly traits: readonly string[] },
  nodeTraits: readonly string[],
  minor: number,
  byName = false,
): Approval => {
  const named = minor < runbookTraitsSince || (byName && runbook.traits.length === 0 && isTrait(runbook.name));
  const accepted = named ? [runbook.name] : runbook.traits;
  if (accepted.some((trait) => nodeTraits.includes(trait))) return { ok: true };
  if (accepted.length === 0)
    return { ok: false, wanted: 'a trait in common with the runbook, which has none yet; add one to both' };
  return {
    ok: false,
    wanted: accepted.length === 1 ? `the trait ${accepted[0]}` : `one of the traits ${accepted.join(', ')}`,
  };
};
