/** What a new or changed runbook becomes: whose it is, what a patch makes of it. Decides; does not write. */
import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import type { NewRunbook, RunbookChange } from '../../../inventory/runbooks';
import type { Caller } from '../../../model/access/callers';
import { raise } from '../../../model/errors';
import type { RunbookUuid } from '../../../model/ids';
import {
  type Runbook,
  runbooksSince,
  runbookTable,
  runbookTableAt,
  runbookTraitsSince,
} from '../../../model/resources/runbooks';
import { isTrait, traitRefusal } from '../../../model/resources/traits';
import type { Settings } from '../../context';
import { schemaError } from '../../http/errors';
import { attributeOf, type Operation, patcherOf } from '../../resource/patch';
import { createSchema } from '../../resource/validation';
import { checkedSteps } from './steps';

type Limits = Pick<Settings, 'disallowedSteps'>;

const patched = patcherOf(runbookTable);

const createSchemas = {
  first: createSchema(runbookTableAt(runbooksSince)),
  withTraits: createSchema(runbookTable),
} as const satisfies Record<string, z.ZodType>;

const createSchemaAt = (minor: number): z.ZodType =>
  minor < runbookTraitsSince ? createSchemas.first : createSchemas.withTraits;

/** The command line sends a project id of digits only as a number. */
const asOwner = (value: unknown): unknown => (typeof value === 'number' ? String(value) : value);

const withTextOwner = (body: unknown): unknown =>
  typeof body === 'object' && body !== null && 'owner' in body ? { ...body, owner: asOwner(body.owner) } : body;

/** The runbook that a create request describes. Throws what is wrong with it. */
export const newRunbook = (
  body: unknown,
  who: Caller,
  minor: number,
  limits: Limits,
): NewRunbook & { readonly uuid: RunbookUuid } => {
  const parsed = createSchemaAt(minor).safeParse(withTextOwner(body));
  if (!parsed.success) throw schemaError(parsed.error, 'body');
  const given = parsed.data as Partial<Runbook> & Pick<Runbook, 'name'>;
  const named = minor < runbookTraitsSince;
  if (named && !isTrait(given.name)) raise('InvalidInput', { field: 'name', reason: traitRefusal(given.name) });
  return {
    uuid: given.uuid ?? (randomUUID() as RunbookUuid),
    name: given.name,
    steps: checkedSteps(given.steps, [], limits.disallowedSteps),
    disable_ramdisk: given.disable_ramdisk ?? false,
    extra: given.extra ?? {},
    description: given.description ?? null,
    // Older versions approve by name, newer ones by traits: one made the old way stays approved for its nodes.
    traits: named ? [given.name] : [],
    ...ownership(who, { owner: given.owner ?? null, public: given.public ?? false }),
  };
};

type Ownership = Pick<Runbook, 'owner' | 'public'>;

/**
 * Whose a new runbook is: with system scope as asked, otherwise the caller's project's. The original stores an owner on a
 * public runbook when both come together; that makes it two things at once, so it is refused. Throws InvalidInput, PolicyDenied.
 */
const ownership = (who: Caller, asked: Ownership): Ownership => {
  if (who.system_scope !== null || who.all_powerful) {
    if (asked.public && asked.owner !== null)
      raise('InvalidInput', {
        field: 'owner',
        reason: 'a public runbook belongs to no project; leave out owner or public',
      });
    return asked;
  }
  if (who.project_id === null)
    return raise('PolicyDeniedFor', {
      rule: 'baremetal:runbook:create',
      reason: 'A runbook is created in a project or with system scope; this token has neither.',
    });
  if (asked.owner !== null && asked.owner !== who.project_id)
    raise('InvalidInput', { field: 'owner', reason: 'a project creates runbooks for itself only' });
  if (asked.public)
    raise('PolicyDeniedFor', {
      rule: 'baremetal:runbook:update:public',
      reason: 'A public runbook can be made with system scope only.',
    });
  return { owner: who.project_id, public: false };
};

const names = (patch: readonly Operation[], name: string): Operation[] =>
  patch.filter((one) => attributeOf(one) === name);

/**
 * The runbook after a patch. Saying anything of `public` first takes the owner away, and an owner can be set only where
 * the result is not public. Throws what is wrong with it.
 */
export const patchedRunbook = (stored: Runbook, patch: readonly Operation[], limits: Limits): RunbookChange => {
  const freed = names(patch, 'public').some((one) => one.op !== 'remove');
  const base = freed ? { ...stored, owner: null } : stored;
  const texts = patch.map((one) => (one.path === '/owner' ? { ...one, value: asOwner(one.value) } : one));
  const values = patched(base, texts) as Partial<Runbook>;
  const result = { ...base, ...values };
  if (names(patch, 'owner').length > 0 && result.public)
    raise('InvalidInput', { field: 'owner', reason: 'a public runbook belongs to no project; make it private first' });
  return {
    name: result.name,
    steps: values.steps ? checkedSteps(values.steps, stored.steps, limits.disallowedSteps) : stored.steps,
    disable_ramdisk: result.disable_ramdisk ?? false,
    extra: result.extra,
    public: result.public ?? false,
    owner: result.owner,
    description: result.description,
  };
};
