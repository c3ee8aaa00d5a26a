/** What the API is given: the other rooms it may ask, and the settings that change the wire. */
import type { Identity } from '../identity';
import type { Inventory } from '../inventory';
import type { Recovery } from '../inventory/runs/recovery';
import type { Digests, Sealer } from '../inventory/secrets/sealing';
import type { Vault } from '../inventory/secrets/vault';
import type { Caller } from '../model/access/callers';
import { defaultQuotas, type Quotas } from '../model/access/quotas';
import type { ErrorLog } from '../model/log';
import type { Policy, ShadowReport } from '../policy';
import type { Runs } from '../runs/contract';
import type { Streams } from './http/event-streams';
import type { OpenBudget } from './http/open-budget';

export type ContextSettings = {
  /** Absolute URL that links begin with, without a trailing slash; null takes the request's host. */
  readonly publicEndpoint: string | null;
  /** Temporal's web UI, without a trailing slash; null where runs carry no link into it. */
  readonly temporalUi: string | null;
  readonly temporalNamespace: string;
  /** Networks, as CIDR, that a BMC address must lie in; none means any. */
  readonly bmcNetworks: readonly string[];
  /** Longest page of a list. */
  readonly maxLimit: number;
  /** Whether project admins may enrol and delete nodes of their own project. Off by default: a node is an operator's decision. */
  readonly projectAdminCanManageOwnNodes: boolean;
  readonly allowDeletingAvailableNodes: boolean;
  /** Whether a ramdisk must be spoken to with TLS. */
  readonly agentRequireTls: boolean;
  /** Networks, as CIDR, that a ramdisk's address must lie in; those of the BMCs when absent. */
  readonly agentNetworks?: readonly string[];
  /** How often a ramdisk has to call back, in seconds. */
  readonly heartbeatTimeoutS: number;
  /** Origins that images and firmware may come from; none means any. */
  readonly imageOrigins: readonly string[];
  /** `interface.step` names that no request may carry. */
  readonly disallowedSteps: readonly string[];
  /** Origins that webhooks may be sent to: scheme, host and port. */
  readonly webhookOrigins: readonly string[];
  /** How many runs of a kind work at once; the others wait their turn. 0 for any number. */
  readonly concurrency: Readonly<Record<'clean' | 'deploy', number>>;
  /** Whether nodes are cleaned of themselves that say nothing about it. */
  readonly automatedClean: boolean;
  /** Who becomes lessee of a node that is deployed without one: the project that instance_info names, the caller's, or none. */
  readonly automaticLessee: 'instance' | 'request' | 'off';
  /** The ramdisk record that nodes boot from which name no image; none when absent. */
  readonly defaultRamdisk?: string;
  /** Whether machines that no node stands for are recorded as their ramdisks report them. */
  readonly discovery: boolean;
  /** What the traits begin with that only the operator sets; empty for none. */
  readonly operatorTraitPrefix: string;
  /** Runbooks that stand in for a node's own list in automated cleaning, by resource class; `*` for all others. */
  readonly cleaningRunbooks: Readonly<Record<string, string>>;
  /** How many users must approve a rollout that its caller may not start alone. */
  readonly rolloutApprovers: number;
  /** How long an approval counts, in hours. */
  readonly rolloutApprovalHours: number;
  /** How long the answer to a request with an Idempotency-Key is kept. */
  readonly idempotencyHours: number;
  /** Requests that one caller is served in a minute; any number when absent. */
  readonly rateLimitPerMinute?: number;
  /** Requests in a minute that one address is served without a known caller; the above when absent or more. */
  readonly addressLimitPerMinute?: number;
  /** Bodies of senders who need no login that are read at once. */
  readonly openBudget?: OpenBudget;
  /** How long a request waits for a node that is held, in ms. */
  readonly lockWaitMs: number;
  /** How much of a kind one project may have; the defaults when absent. */
  readonly quotas?: Quotas;
  /** Origins of web pages that may read answers. */
  readonly corsOrigins: readonly string[];
  /** Networks of the proxies whose X-Forwarded-For is believed; none when absent. */
  readonly trustedProxies?: readonly string[];
  /** Addresses of a host name; rejects or answers none where it does not resolve. */
  lookup(host: string): Promise<string[]>;
};

/** How much of a kind one project may have here. */
export const quotasOf = ({ settings }: { readonly settings: Pick<ContextSettings, 'quotas'> }): Quotas =>
  settings.quotas ?? defaultQuotas;

export type ApiContext = {
  /** The policy of this moment: a reload replaces it between requests. */
  policy(): Policy;
  /** What a second policy would have decided otherwise; absent where there is none. */
  readonly shadow?: () => ShadowReport;
  /** What a restore holds back, as this process knows it without asking; absent where it is not watched. */
  readonly recovery?: () => Pick<Recovery, 'reason'> | undefined;
  readonly identity: Pick<Identity, 'identify'>;
  readonly inventory: Inventory;
  /** Seals what only BMC workers open again. */
  readonly vault: Sealer & Digests;
  readonly runs: Runs;
  readonly streams: Streams;
  readonly log: ErrorLog;
  readonly settings: ContextSettings;
  /** Whether a user who approved a rollout still has the roles it was approved by; absent, its vote is believed until it expires. */
  readonly voters?: (caller: Caller) => Promise<'holds' | 'lost' | 'away'>;
  /** What seals the secrets of webhooks; absent where the installation has none. */
  readonly webhookVault?: Vault;
};
