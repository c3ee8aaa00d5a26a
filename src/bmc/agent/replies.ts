/** Schemas of a ramdisk's answers, and error codes of its refusals. */
import { z } from 'zod';
import { type ErrorCode, TemperError } from '../../model/errors';
import { errorOfFailure } from '../redfish/transport/replies';
import { tidyText } from '../texts';

const anything = z.record(z.string(), z.unknown());

/** `command_name` is without the extension. */
export const Command = z.object({
  id: z.string().min(1).max(200),
  command_name: z.string().max(200),
  command_status: z.string().max(60),
  command_error: z.unknown().optional(),
  command_result: anything.nullish(),
});
export type Command = z.infer<typeof Command>;

export const Commands = z.object({ commands: z.array(Command).max(10_000) });

/** `started_at` changes with each restart of the ramdisk. */
export const Status = z.object({ started_at: z.union([z.number(), z.string().max(100)]) });

const longestWords = 500;

export const tidy = (text: string): string => tidyText(text, longestWords) ?? '';

const textAt = (value: unknown, keys: readonly string[]): string =>
  typeof value === 'object' && value !== null
    ? keys
        .map((key) => (value as Record<string, unknown>)[key])
        .filter((text): text is string => typeof text === 'string' && text !== '')
        .join(': ')
    : '';

export const errorTextOf = (error: unknown): string =>
  tidy(typeof error === 'string' ? error : textAt(error, ['message', 'details', 'error', 'faultstring'])) ||
  'it gives no reason';

const codes: Readonly<Record<number, ErrorCode>> = {
  401: 'AgentAuthFailed',
  403: 'AgentAuthFailed',
  409: 'AgentBusy',
  429: 'AgentBusy',
};

export type AskFacts = { readonly node: string; readonly agent: string; readonly what: string };

/** For a status that is not 2xx. */
export const errorOfStatus = (status: number, body: unknown, facts: AskFacts): TemperError => {
  const redirect = status >= 300 && status < 400;
  const reason = redirect ? 'it redirects, which is not followed' : errorTextOf(body);
  const code = codes[status] ?? (status >= 500 ? 'AgentServerError' : 'AgentRejected');
  return new TemperError(code, { ...facts, status, reason });
};

const ours: Partial<Record<ErrorCode, ErrorCode>> = {
  BmcTlsFailed: 'AgentTlsFailed',
  BmcAddressRefused: 'AgentAddressRefused',
};

/** `neverSent`: it cannot have been carried out. */
export const errorOfSilence = (thrown: unknown, facts: AskFacts): { error: TemperError; neverSent: boolean } => {
  const { error, neverSent } = errorOfFailure(thrown, { ...facts, bmc: facts.agent });
  if (error.code === 'CommandLate') return { error, neverSent };
  const { bmc: _, ...rest } = error.facts;
  const code = ours[error.code] ?? 'AgentUnreachable';
  return { error: new TemperError(code, { ...facts, ...rest }), neverSent };
};
