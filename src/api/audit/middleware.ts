/** Audit of requests: each change, and each read of the trail, leaves one audit row in any outcome. */
import { originFor, requesterOf } from '../../admission/requester';
import type { NodeIdent, RequestRow } from '../../inventory/audit';
import type { Caller } from '../../model/access/callers';
import type { TemperError } from '../../model/errors';
import { asUuid, isLogicalName, type RunUuid } from '../../model/ids';
import { type AuditOutcome, identKept, type Origin } from '../../model/resources/audit';
import type { Policy } from '../../policy';
import type { ApiContext } from '../context';
import type { Route } from '../server/route';
import { createRepeats } from './refusal-counter';

type FollowedRequest = {
  readonly route: Route;
  readonly params: Readonly<Record<string, unknown>>;
  readonly who: Caller;
  readonly requestId: string;
  /** Read when a row is written. */
  readonly origin: () => Origin;
};

export type Followed = {
  /** For the handler; its policy records the evaluated rules. */
  readonly ctx: ApiContext;
  /** The handler writes its own row, so the middleware writes none. */
  leavesRow(): void;
  /** @param code `Repeated` if the request repeats an earlier one and changed nothing */
  granted(code?: string): Promise<void>;
  /** @param resource_id of a request that names its objects in its body; by default that of the path */
  ended(error: TemperError, resource_id?: string): Promise<void>;
};

export type Trail = {
  /** Follows an authenticated request for a change; undefined for requests that leave no row. */
  follow(asked: FollowedRequest): Followed | undefined;
  /** Writes the pending counts. */
  close(): Promise<void>;
};

const readingMethods = ['GET'] as const satisfies readonly Route['method'][];

// A path or method that does not exist has no rules, and cannot change anything.
const leavesRows = ({ method, rules, open, audited, changesNothing }: Route): boolean =>
  audited === true ||
  (!changesNothing && !readingMethods.includes(method as 'GET') && rules !== 'public' && rules.length > 0 && !open);

/** The last evaluated rule with its result, and the last rule that admitted. */
type RuleAsked = { rule: string | null; allowed: boolean; admitted: string | null };

const recordingRules = (policy: Policy, asked: RuleAsked): Policy => {
  const record = (rule: string, allowed: boolean) =>
    void Object.assign(asked, { rule, allowed, ...(allowed && { admitted: rule }) });
  return {
    ...policy,
    allows: (rule, who, target) => {
      const allowed = policy.allows(rule, who, target);
      record(rule, allowed);
      return allowed;
    },
    require: (rule, who, target) => {
      record(rule, false);
      policy.require(rule, who, target);
      record(rule, true);
    },
  };
};

// Paths have dashes for the underscores in names of resources and rules.
const singular = (collection: string): string =>
  collection === 'chassis' ? collection : collection.replace(/s$/, '').replaceAll('-', '_');

/**
 * The audit target of a path such as `/v1/nodes/:node_ident/…`: the segment before the first parameter, in the singular, and its value.
 */
const auditTarget = ({ path }: Route, params: FollowedRequest['params']) => {
  const parts = path.split('/').slice(path.startsWith('/temper') ? 3 : 2);
  const at = parts.findIndex((part) => part.startsWith(':'));
  const resource = singular(parts.slice(0, at === -1 ? undefined : at).join('_'));
  const ident = at === -1 ? '' : String(params[parts[at]!.slice(1)] ?? '');
  const uuid = asUuid(ident);
  const node: NodeIdent | null =
    resource !== 'node' ? null : uuid ? { uuid } : isLogicalName(ident) ? { name: ident } : null;
  return {
    resource,
    resource_id: identKept(ident),
    node,
    run_id: resource === 'run' ? ((uuid ?? null) as RunUuid | null) : null,
  };
};

/** A rule refused. If the response is "not found", only the last evaluated rule shows which. */
const verdictOn = (
  { status, facts }: TemperError,
  asked: RuleAsked,
): { verdict: AuditOutcome; rule: string | null } => {
  const hidden = status === 404 && asked.rule !== null && !asked.allowed;
  if (status === 403 || hidden)
    return { verdict: 'refused', rule: typeof facts.rule === 'string' ? facts.rule : asked.rule };
  return { verdict: 'failed', rule: asked.admitted };
};

/** Interval between writes of counted refusals. */
const flushEveryMs = 15_000;

/** @param ctx the API's own context, whose database role may write the trail */
export const createAuditTrail = (ctx: ApiContext): Trail => {
  const write = (row: RequestRow): Promise<void> =>
    ctx.inventory.audit.writeRequest(row).catch((thrown) => {
      const { action, verdict, requester } = row;
      ctx.log.error('audit row not written', { action, verdict, requester, reason: String(thrown) });
    });
  const repeats = createRepeats({ write });
  const timer = setInterval(() => void repeats.flush(), flushEveryMs);
  timer.unref();

  return {
    follow({ route, params, who, requestId, origin }) {
      if (!leavesRows(route)) return undefined;
      const asked: RuleAsked = { rule: null, allowed: false, admitted: null };
      const rule_set = ctx.policy().hash;
      const row = (verdict: AuditOutcome, rule: string | null, code: string | null): RequestRow => ({
        requester: requesterOf({ who, requestId }),
        origin: originFor(origin(), who),
        action: `${route.method} ${route.path}`,
        verdict,
        rule,
        rule_set,
        code,
        ...auditTarget(route, params),
        times: 1,
      });
      let left = false;
      return {
        leavesRow: () => {
          left = true;
        },
        ctx: { ...ctx, policy: () => recordingRules(ctx.policy(), asked) },
        granted: async (code) => {
          if (!left) await write(row('granted', asked.admitted, code ?? null));
        },
        ended: (error, resource_id) => {
          const { verdict, rule } = verdictOn(error, asked);
          const named = resource_id === undefined ? {} : { resource_id: identKept(resource_id) };
          return repeats.note({ ...row(verdict, rule, error.code), ...named });
        },
      };
    },

    async close() {
      clearInterval(timer);
      await repeats.flush(true);
    },
  };
};
