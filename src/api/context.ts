/** Dependencies and settings of the API. */
import type { AdmissionContext, AdmissionSettings } from '../admission/context';
import type { Identity } from '../identity';
import type { Inventory } from '../inventory';
import type { Recovery } from '../inventory/runs/recovery';
import type { Digests, Sealer } from '../inventory/secrets/sealing';
import type { Vault } from '../inventory/secrets/vault';
import type { ErrorLog } from '../model/log';
import type { Policy, ShadowReport } from '../policy';
import type { VoteContext } from '../rollouts/approvals';
import type { Runs } from '../runs/contract';
import type { OpenBudget } from './body/open-budget';
import type { Streams } from './streams/event-streams';

export type ContextSettings = AdmissionSettings & {
  /** Absolute URL prefix of links, without a trailing slash; null takes the request's host. */
  readonly publicEndpoint: string | null;
  /** Temporal UI, without a trailing slash; null for no links. */
  readonly temporalUi: string | null;
  readonly temporalNamespace: string;
  /** CIDR networks of BMC addresses; empty allows any. */
  readonly bmcNetworks: readonly string[];
  /** Longest page of a list. */
  readonly maxLimit: number;
  /** Lets project admins enrol and delete nodes of their project. Off by default: this is an operator's decision. */
  readonly projectAdminCanManageOwnNodes: boolean;
  readonly allowDeletingAvailableNodes: boolean;
  /** Requires TLS to ramdisks. */
  readonly agentRequireTls: boolean;
  /** CIDR networks of ramdisk addresses; absent: those of the BMCs. */
  readonly agentNetworks?: readonly string[];
  /** Longest interval between heartbeats of a ramdisk, in seconds. */
  readonly heartbeatTimeoutS: number;
  /** Allowed origins of webhooks: scheme, host and port. */
  readonly webhookOrigins: readonly string[];
  /** Records machines without a node when their ramdisks report them. */
  readonly discovery: boolean;
  /** Prefix of traits that only the operator sets; empty for none. */
  readonly operatorTraitPrefix: string;
  /** Approvals needed for a rollout that its caller may not start alone. */
  readonly rolloutApprovers: number;
  /** Lifetime of an approval, in hours. */
  readonly rolloutApprovalHours: number;
  /** Lifetime of the answer to a request with an Idempotency-Key. */
  readonly idempotencyHours: number;
  /** Requests per minute of one caller; absent: no limit. */
  readonly rateLimitPerMinute?: number;
  /** Requests per minute of one address without a login; at most, and by default, the limit above. */
  readonly addressLimitPerMinute?: number;
  /** Limits for bodies of senders without a login. */
  readonly openBudget?: OpenBudget;
  /** Longest wait of a request for a locked node, in ms. */
  readonly lockWaitMs: number;
  /** Origins of web pages that may read answers. */
  readonly corsOrigins: readonly string[];
  /** Networks of proxies whose X-Forwarded-For is trusted. */
  readonly trustedProxies?: readonly string[];
  /** Addresses of a host name; rejects or returns none if it does not resolve. */
  lookup(host: string): Promise<string[]>;
};

export type ApiContext = Pick<VoteContext, 'voters'> &
  Pick<AdmissionContext, 'glance'> & {
    /** The present policy: a reload replaces it between requests. */
    policy(): Policy;
    /** Differences to a second policy; absent without one. */
    readonly shadow?: () => ShadowReport;
    /** The present restore, from this process's memory without a query; absent if not watched. */
    readonly recovery?: () => Pick<Recovery, 'reason'> | undefined;
    readonly identity: Pick<Identity, 'identify'>;
    readonly inventory: Inventory;
    /** Seals values that only BMC workers can open. */
    readonly vault: Sealer & Digests;
    readonly runs: Runs;
    readonly streams: Streams;
    readonly log: ErrorLog;
    readonly settings: ContextSettings;
    /** Seals the secrets of webhooks; absent if webhooks are off. */
    readonly webhookVault?: Vault;
  };
