/** Verdicts on ipmitool's output: answered, or failed with a reason. */
import type { ErrorCode } from '../../model/errors';
import type { Said } from './program';

export type ReplyVerdict =
  | {
      readonly is: 'answered';
      readonly text: string;
      /** The BMC does not report its cipher suites, so ipmitool used `fallback` after a wait. */
      readonly untold: boolean;
    }
  | {
      readonly is: 'failed';
      readonly why: Why;
      readonly code: ErrorCode;
      /** For display; may quote the BMC. */
      readonly reason: string;
    };

/**
 * `cipher`, `login`, `silent` and `full`: the command was not sent. `busy` and `refused`: the BMC refused. `lost`: the command may
 * have been sent.
 */
export type Why = 'cipher' | 'login' | 'silent' | 'full' | 'busy' | 'unsupported' | 'refused' | 'lost';

type ReplyRow = { readonly why: Why; readonly code: ErrorCode; readonly says: RegExp };

// Texts of ipmitool: lib/ipmi_strings.c (completion codes), src/plugins/lanplus (sessions). First match wins.
const replyRows: readonly ReplyRow[] = [
  {
    why: 'full',
    code: 'BmcBusy',
    says: /insufficient resources for (?:session|role)|(?:session|slot)s? (?:are )?(?:full|in use)|No session slot/i,
  },
  {
    why: 'login',
    code: 'BmcAuthFailed',
    says: /RAKP 2 HMAC is invalid|RAKP 4 message has invalid|RAKP [24] message indicates an error|Activate Session (?:error|command failed)|Invalid user name|authentication type .* not supported|password is longer|Invalid password/i,
  },
  {
    why: 'cipher',
    code: 'BmcRejected',
    says: /Error in open session response message|Unsupported cipher suite ID|no matching cipher suite/i,
  },
  { why: 'login', code: 'BmcRejected', says: /does not support IPMI v2/ },
  { why: 'silent', code: 'BmcUnreachable', says: /Unable to establish|Could not open socket|Address lookup for/i },
  {
    why: 'busy',
    code: 'BmcBusy',
    says: /(?:failed|\)): (?:Node busy|Out of space|BMC initialization in progress|Device firm\w* in update mode|SDR Repository in update mode|Command not supported in present state)/i,
  },
  {
    why: 'unsupported',
    code: 'BmcUnsupported',
    says: /(?:failed|\)): (?:Invalid command|Command Unavailable|Illegal command disabled)/i,
  },
  // With these answers the BMC reports that the effect is unknown.
  { why: 'lost', code: 'BmcUnreachable', says: /(?:failed|\)): (?:Timeout|Command response could not be provided)/i },
  { why: 'refused', code: 'BmcRejected', says: /rsp=0x[0-9a-f]{1,2}\): |\bfailed: / },
  { why: 'lost', code: 'BmcUnreachable', says: /^/ },
];

/** ipmitool's default suite. */
export const fallback = 3;
const untold = 'Unable to Get Channel Cipher Suites';

/** Lines of `-v` that do not depend on the outcome. */
const noise =
  /^(?:Loading |IANA PEN|Unable to Get Channel Cipher Suites|Running Get|Invalid completion code received|Discovered |RAW R|Get HPM|Key: *$|\s*$)/;

const linesOf = (text: string): string[] =>
  text
    .replace(/^Key: /, '')
    .split(/\r?\n/)
    .filter((line) => !noise.test(line));

const asciiLine = (text: string): string =>
  text
    .replace(/[^\x20-\x7e]+/g, ' ')
    .trim()
    .slice(0, 300);

const cuts = {
  late: 'it took too long, and ipmitool was stopped',
  endless: 'ipmitool did not stop talking',
} as const;

/** Some failures end with status 0. The error output of a success is noise. */
const isFine = (said: Said): boolean => said.status === 0 && !/Unable to establish/.test(said.err);

/** Never throws. */
export const verdictOf = (said: Said): ReplyVerdict => {
  if (said.cut) return { is: 'failed', why: 'lost', code: 'BmcUnreachable', reason: cuts[said.cut] };
  if (isFine(said)) return { is: 'answered', text: said.out, untold: said.err.includes(untold) };
  const lines = linesOf(said.err);
  const text = lines.join('\n');
  const { why, code, says } = replyRows.find((row) => row.says.test(text))!;
  const reason = lines.find((line) => says.test(line)) ?? lines.at(-1);
  return { is: 'failed', why, code, reason: asciiLine(reason ?? '') || `ipmitool ended with ${said.status}` };
};
