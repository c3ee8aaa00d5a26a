/** The result and the origin of a request in the audit trail. */
import { peerAddress } from '../access/bmc-addresses';

/** `granted` was done, `refused` by a rule (even if the answer was "not found"), `failed` for any other reason. */
export const verdicts = ['granted', 'refused', 'failed'] as const;
export type AuditOutcome = (typeof verdicts)[number];

/** Origin of a request. */
export type Origin = {
  /** The caller's address as reported by trusted proxies; otherwise that of the connection, which may be a proxy's. */
  readonly address?: string;
  /** The unchanged X-Forwarded-For header. Its first entries may be forged by the caller. */
  readonly forwarded_for?: string;
  /** The calling service's id for the work that the request belongs to. */
  readonly global_request_id?: string;
};

const longestForwarded = 200;
const longestIdent = 255;

// A caller's control characters must not reach the terminal of a log's reader.
const printable = (text: string): string => text.replace(/[^\x20-\x7e\u00a0-\uffff]/g, '?');

/** An origin to record: bounded, without control characters. */
export const originOf = (address: string | undefined, forwarded: string | undefined): Origin => ({
  ...(address && { address: peerAddress(address) }),
  ...(forwarded && { forwarded_for: printable(forwarded.slice(0, longestForwarded)) }),
});

/** A caller's identifier to record: bounded, without control characters. */
export const identKept = (ident: string): string => printable(ident.slice(0, longestIdent));
