/** /v1/runbooks: named step lists, used in place of the steps of a clean or service request. */

import type { z } from 'zod';
import { quotasOf } from '../../../admission/context';
import { stepRuleNames } from '../../../admission/steps';
import { quotaProject } from '../../../model/access/callers';
import { raise } from '../../../model/errors';
import {
  type Runbook,
  runbooksSince,
  runbookTable,
  runbookTableAt,
  runbookTraitsSince,
} from '../../../model/resources/runbooks';
import { isTrait, traitRefusal } from '../../../model/resources/traits';
import type { Consequence, Resource, WriteCheck } from '../../resource/kit';
import { editRoutes } from '../../resource/kit-edits';
import { shownRoutes } from '../../resource/kit-lists';
import { linksTo, projections } from '../../resource/representation';
import { createSchema } from '../../resource/validation';
import type { StoredValues } from '../../resource/values';
import { schemaError } from '../../server/errors';
import type { Route } from '../../server/route';
import { operatorTraitRules, requireOperatorMarks } from '../nodes/operator-traits';
import { checkOwnership, ownershipOf, patch, withTextOwner } from './ownership';
import { admitRevision } from './revisions';
import { checkedSteps, requireSteps } from './steps';
import { claimMarks, shareTrait } from './trait-claims';
import { runbookKind } from './visibility';
import { warningHeaders } from './warnings';

const createSchemas = {
  first: createSchema(runbookTableAt(runbooksSince)),
  withTraits: createSchema(runbookTable),
} as const satisfies Record<string, z.ZodType>;

const parseRunbook: Resource['parse'] = (body, minor) => {
  const schema = minor < runbookTraitsSince ? createSchemas.first : createSchemas.withTraits;
  const parsed = schema.safeParse(withTextOwner(body));
  if (!parsed.success) throw schemaError(parsed.error, 'body');
  return parsed.data;
};

/** Older versions approve by name, newer ones by traits. A runbook from an older version stays approved for its nodes. */
const traitsOf = (name: string, minor: number): readonly string[] => {
  if (minor >= runbookTraitsSince) return [];
  return isTrait(name) ? [name] : raise('InvalidInput', { field: 'name', reason: traitRefusal(name) });
};

/** Throws InvalidInput, InvalidSteps, PolicyDenied. */
const checkedRunbook: Resource<Runbook>['checked'] = (values, { ctx, request, named }, stored) => {
  const given = values as StoredValues & Partial<Runbook>;
  if (stored) checkOwnership(named, { ...stored, ...given });
  const traits = stored ? undefined : traitsOf(given.name!, request.version);
  const asked = { owner: given.owner ?? null, public: given.public ?? false };
  const steps = given.steps && checkedSteps(given.steps, stored?.steps ?? [], ctx.settings.disallowedSteps);
  return {
    ...given,
    ...(steps && { steps }),
    ...(traits && { traits, ...ownershipOf(request.who, asked) }),
  };
};

/** Changes of only these fields create no revision. */
const withoutRevision: readonly string[] = ['description', 'extra'];

const runbookChecks: readonly WriteCheck<Runbook>[] = [
  {
    on: ['create', 'update'],
    check: ({ ctx, request: { who }, row, values, named }) => {
      if (named.includes('steps')) requireSteps(ctx.policy(), who, { ...row, ...values });
    },
  },
  {
    on: ['create', 'update'],
    check: ({ ctx, request: { who }, row, values, named }) =>
      requireOperatorMarks(ctx, who, row, { name: values.name as string | undefined, changes: named }),
  },
  {
    on: ['create', 'update'],
    check: async ({ ctx, inventory, request, named }) => {
      if (named.some((field) => !withoutRevision.includes(field))) await admitRevision(ctx, inventory, request);
    },
  },
  {
    on: ['create'],
    check: ({ ctx, inventory, request: { who } }) =>
      inventory.quotas.require('runbooks', quotaProject(who), quotasOf(ctx).runbooks),
  },
];

const after: readonly Consequence<Runbook>[] = [
  {
    on: ['create', 'update'],
    follow: ({ act, ctx, inventory, request: { who }, row, stored }) =>
      claimMarks({ ctx, inventory, who }, act === 'create' ? undefined : row, stored),
  },
];

/** Event data of a runbook, which its owner's project reads. */
export const runbookFacts = ({ owner, name, public: open }: Runbook) => ({
  project: owner,
  facts: { name, public: open },
});

const runbook: Resource<Runbook> = {
  ...runbookKind,
  tooOld: 405,
  badMarker: 'MarkerNotFound',
  shown: projections(runbookTable, { links: linksTo('runbooks') }),
  asks: [...stepRuleNames, operatorTraitRules.runbook, shareTrait],
  sealing: { holder: 'runbook', fields: ['steps'] },
  parse: parseRunbook,
  patch,
  checked: checkedRunbook,
  before: runbookChecks,
  after,
  recorded: (row, { act }) => ({ ...runbookFacts(row), ...(act === 'create' && { values: row }) }),
  headers: (ctx, { steps }, named) => (named.includes('steps') ? warningHeaders(ctx, steps) : {}),
};

export const runbookRoutes: Route[] = [...shownRoutes(runbook), ...editRoutes(runbook)];
