/** The rules in force: a built-in set and the operator's file, read again when the file changes. */
import { createHash } from 'node:crypto';
import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { parseDocument } from 'yaml';
import type { Logger } from '../observe/log';
import { createPolicy, type Policy, type RuleSetName } from '../policy';

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);
const lookEveryMs = 2_000;

// YAML's own traps (a bare `!` is an empty text, a key given twice hides the first) would open rules; both are refused here.
const readRules = (file: string): Record<string, unknown> => {
  const document = parseDocument(readFileSync(file, 'utf8'), { uniqueKeys: true, version: '1.1' });
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) throw new Error(`${file}: ${faults.map(({ message }) => message).join('; ')}`);
  const rules: unknown = document.toJS();
  if (rules === null) return {};
  if (typeof rules !== 'object' || Array.isArray(rules))
    throw new Error(`${file}: a policy file is a map of rule names to rules`);
  return rules as Record<string, unknown>;
};

export type PolicyHolder = {
  readonly now: () => Policy;
  readonly fault: () => string | null;
  readonly close: () => void;
};

/**
 * @throws when the file cannot be used at start; later the old rules stay in force and the fault is told by log and health
 */
export const holdPolicy = (
  set: RuleSetName,
  file: string | undefined,
  { log, onLoad }: { log: Logger; onLoad: () => void },
): PolicyHolder => {
  const load = (): Policy => {
    const policy = createPolicy({ set, digest, ...(file && { overrides: readRules(file) }) });
    for (const warning of policy.warnings) log.warn('policy', { warning });
    log.info('policy loaded', { set, hash: policy.hash, ...(file && { file }) });
    onLoad();
    return policy;
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
