/** Ownership of runbooks: the caller's project, any project with system scope, or public without owner. */
import type { Caller } from '../../../model/access/callers';
import { raise } from '../../../model/errors';
import type { Runbook } from '../../../model/resources/runbooks';
import type { Resource } from '../../resource/kit';
import { attributeOf, type Operation } from '../../resource/patch';

type Ownership = Pick<Runbook, 'owner' | 'public'>;

/** The command line sends an all-digit project id as a number. */
const asOwner = (value: unknown): unknown => (typeof value === 'number' ? String(value) : value);

/** A create body with the owner as text. */
export const withTextOwner = (body: unknown): unknown =>
  typeof body === 'object' && body !== null && 'owner' in body ? { ...body, owner: asOwner(body.owner) } : body;

/**
 * The owner of a new runbook: with system scope the given one, else the caller's project. Ironic stores an owner on a
 * public runbook if both are given. Temper refuses this contradiction. Throws InvalidInput, PolicyDenied.
 */
export const ownershipOf = (who: Caller, asked: Ownership): Ownership => {
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

const sets = (patch: readonly Operation[], name: string): boolean =>
  patch.some((one) => attributeOf(one) === name && one.op !== 'remove');

/** Setting `public` to any value clears the owner first. */
export const patch: Resource<Runbook>['patch'] = (patched, stored, operations) => {
  const freed: Partial<Ownership> = sets(operations, 'public') ? { owner: null } : {};
  const texts = operations.map((one) => (one.path === '/owner' ? { ...one, value: asOwner(one.value) } : one));
  return { ...freed, ...patched({ ...stored, ...freed }, texts) };
};

/** Only a private runbook may get an owner. Throws InvalidInput. */
export const checkOwnership = (named: readonly string[], after: Ownership): void => {
  if (named.includes('owner') && after.public)
    raise('InvalidInput', { field: 'owner', reason: 'a public runbook belongs to no project; make it private first' });
};
