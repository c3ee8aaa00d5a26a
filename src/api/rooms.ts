/** What the API is given: the other rooms it may ask, and the settings that change the wire. */
import type { Identity } from '../identity';
import type { Inventory } from '../inventory';
import type { Vault } from '../inventory/vault';
import type { Policy } from '../policy';
import type { Runs } from '../runs/contract';

export type Log = Record<'info' | 'warn' | 'error', (says: string, facts?: Readonly<Record<string, unknown>>) => void>;

export type Settings = {
  /** Absolute URL that links begin with, without a trailing slash; null takes the request's host. */
  readonly publicEndpoint: string | null;
  /** Temporal's web UI, without a trailing slash; null where runs carry no link into it. */
  readonly temporalUi?: string | null;
  readonly temporalNamespace?: string;
  /** Networks, as CIDR, that a BMC address must lie in; none means any. */
  readonly bmcNetworks: readonly string[];
  /** Longest page of a list. */
  readonly maxLimit: number;
  /** Whether project admins may enrol and delete nodes of their own project. */
  readonly projectAdminCanManageOwnNodes: boolean;
  readonly allowDeletingAvailableNodes: boolean;
  /** `interface.step` names that no request may carry. */
  readonly disallowedSteps: readonly string[];
  /** Addresses of a host name; rejects or answers none where it does not resolve. */
  lookup(host: string): Promise<string[]>;
};

/** Settings as an installation has them that says nothing. Enrolment by projects is off: a node is an operator's decision. */
export const defaultSettings = {
  publicEndpoint: null,
  bmcNetworks: [],
  maxLimit: 1000,
  projectAdminCanManageOwnNodes: false,
  allowDeletingAvailableNodes: true,
  disallowedSteps: ['vendor.send_raw'],
} as const satisfies Omit<Settings, 'lookup'>;

export type Rooms = {
  /** The policy of this moment: a reload replaces it between requests. */
  policy(): Policy;
  readonly identity: Pick<Identity, 'identify'>;
  readonly inventory: Inventory;
  readonly vault: Vault;
  readonly runs: Runs;
  readonly log: Log;
  readonly settings: Settings;
};
