/** Result and origin of a request in the audit trail. */
import { peerAddress } from '../access/bmc-addresses';

/** `refused` by a rule (even if the answer was "not found"), `failed` for any other reason. */
export const verdicts = ['granted', 'refused', 'failed'] as const;
export type AuditOutcome = (typeof verdicts)[number];

export type Origin = {
  /** As reported by trusted proxies; otherwise the connection's, which may be a proxy's. */
  readonly address?: string;
  /** Unchanged X-Forwarded-For header, whose first entries may be forged. */
  readonly forwarded_for?: string;
  /** The calling service's id for the surrounding work. */
  readonly global_request_id?: string;
  /** Name of the caller's project at that time. Here, because tenants read the requesters of runs. */
  readonly project_name?: string;
  /** The caller's roles at that time. */
  readonly roles?: readonly string[];
};

const longestForwarded = 200;
const longestIdent = 255;

// Control characters must not reach the terminal of a log's reader.
const printable = (text: string): string => text.replace(/[^\x20-\x7e\u00a0-\uffff]/g, '?');

/** Bounded, without control characters. */
export const originOf = (address: string | undefined, forwarded: string | undefined): Origin => ({
  ...(address && { address: peerAddress(address) }),
  ...(forwarded && { forwarded_for: printable(forwarded.slice(0, longestForwarded)) }),
});

/** Bounded, without control characters. */
export const identKept = (ident: string): string => printable(ident.slice(0, longestIdent));
