/** What the audit trail says of a request: what became of it, and where it came from. */
import { peerAddress } from '../access/bmc-addresses';

/** `granted` was done, `refused` by a rule (also where the answer was "not found"), `failed` for any other reason. */
export const verdicts = ['granted', 'refused', 'failed'] as const;
export type AuditOutcome = (typeof verdicts)[number];

/** Where a request came from. */
export type Origin = {
  /** Of the caller, as reported by trusted proxies: otherwise that of the connection, which may be a proxy's. */
  readonly address?: string;
  /** The header X-Forwarded-For as it came: what proxies say, and whatever the caller had put there before. */
  readonly forwarded_for?: string;
  /** What the caller's own service calls the work that the request is part of. */
  readonly global_request_id?: string;
};

const longestForwarded = 200;
const longestIdent = 255;

// A log reader's terminal must not obey what a caller sent.
const printable = (text: string): string => text.replace(/[^\x20-\x7e\u00a0-\uffff]/g, '?');

/** An origin as it is kept: bounded, without control characters. */
export const originOf = (address: string | undefined, forwarded: string | undefined): Origin => ({
  ...(address && { address: peerAddress(address) }),
  ...(forwarded && { forwarded_for: printable(forwarded.slice(0, longestForwarded)) }),
});

/** What a caller called something, as it is kept: bounded, without control characters. */
export const identKept = (ident: string): string => printable(ident.slice(0, longestIdent));
