/** The rules in force: a built-in set and the operator's file, read again when the file changes. */
import { createHash } from 'node:crypto';
import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { parseDocument } from 'yaml';
import { isTemperError } from '../model/errors';
import type { Logger } from '../observe/log';
import { createPolicy, type Policy, type RuleSetName } from '../policy';
import { ConfigFault } from './fault';

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);
const lookEveryMs = 2_000;

// YAML's own traps (a bare `!` is an empty text, a key given twice hides the first) would open rules; both are refused here.
const readRules = (file: string): Record<string, unknown> => {
  const document = parseDocument(readText(file), { uniqueKeys: true, version: '1.1' });
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) throw new UnusableFile(faults.map(({ message }) => message.trimEnd()).join('\n'));
  const rules: unknown = document.toJS();
  if (rules === null) return {};
  if (typeof rules !== 'object' || Array.isArray(rules))
    throw new UnusableFile('a policy file is a map of rule names to rules');
  return rules as Record<string, unknown>;
};

class UnusableFile extends Error {}

const readText = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch (thrown) {
    throw new UnusableFile(`it could not be read (${(thrown as NodeJS.ErrnoException).code ?? 'unknown error'})`);
  }
};

/** What is wrong with the file, told by its setting; any other error comes back as it is. */
const fileFault = (file: string, thrown: unknown): unknown => {
  const reason = thrown instanceof UnusableFile && thrown.message;
  const rules = isTemperError(thrown, 'PolicyInvalid') && String(thrown.facts.reason);
  if (!reason && !rules) return thrown;
  return new ConfigFault([
    `TEMPER_POLICY_FILE: ${file} cannot be used; mend it, or name another file:\n${reason || rules}`,
  ]);
};

/** What looks at every policy that comes into force. */
export type Watching = {
  readonly log: Logger;
  readonly onLoad: () => void;
  readonly counted?: (policy: Policy) => Policy;
};

export type PolicyHolder = {
  readonly now: () => Policy;
  readonly fault: () => string | null;
  readonly close: () => void;
};

/**
 * @throws ConfigFault when the file cannot be used at start; later the old rules stay in force and the fault is told by
 *   log and health
 */
export const holdPolicy = (
  set: RuleSetName,
  file: string | undefined,
  { log, onLoad, counted = (policy) => policy }: Watching,
): PolicyHolder => {
  const compile = (): Policy => {
    try {
      return createPolicy({ set, digest, ...(file && { overrides: readRules(file) }) });
    } catch (thrown) {
      throw file ? fileFault(file, thrown) : thrown;
    }
  };
  const load = (): Policy => {
    const policy = compile();
    for (const warning of policy.warnings) log.warn('policy', { warning });
    log.info('policy loaded', { set, hash: policy.hash, ...(file && { file }) });
    onLoad();
    return counted(policy);
  };
  let current = load();
  let fault: string | null = null;
  const reload = () => {
    try {
      current = load();
      fault = null;
    } catch (error) {
      fault = `policy file not loaded, the old rules stay in force: ${(error as Error).message}`;
      log.error('policy file not loaded, the old rules stay in force', { error });
    }
  };
  if (file) watchFile(file, { interval: lookEveryMs }, reload);
  return { now: () => current, fault: () => fault, close: () => file && unwatchFile(file, reload) };
};
