/** Inspection rules, applied to findings in the transaction that records them. */

import { createContext, Script } from 'node:vm';
import type { Queries } from '../inventory';
import type { Fenced } from '../inventory/fence';
import { raise } from '../model/errors';
import type { Matching } from '../model/inspection/rule-conditions';
import { rulePhase, runRules } from '../model/inspection/rule-run';
import type { Log } from '../model/log';

/**
 * Limits in milliseconds and characters, because findings are untrusted.
 * The timeout is wall-clock time: with 100 ms, inspections failed on a busy machine.
 */
const patternLimitMs = 1_000;
const longestText = 4_096;

const trial = new Script('new RegExp(regex).test(text)');

/** Throws RangeError for an invalid or slow expression. */
export const matching: Matching = (regex, text) => {
  try {
    return trial.runInContext(createContext({ regex, text: text.slice(0, longestText) }), { timeout: patternLimitMs });
  } catch {
    throw new RangeError(`${regex.slice(0, 80)} is no regular expression, or takes too long`);
  }
};

const warningLevels = ['warning', 'error', 'critical'];

/** Throws InspectionRuleFailed, which fails the inspection. */
export const applyInspectionRules = async (
  store: Pick<Queries, 'ruleEffects'>,
  lock: Fenced,
  log: Log,
): Promise<void> => {
  const rules = await store.ruleEffects.rules(rulePhase);
  if (rules.length === 0) return;
  const subject = await store.ruleEffects.subject(lock);
  if (!subject) raise('StaleOperation', { node: lock.node_uuid, run: lock.run });
  const outcome = runRules(rules, subject!, matching);
  await store.ruleEffects.write(lock, outcome);
  const facts = { node_uuid: lock.node_uuid, run_id: lock.run };
  for (const { level, msg } of outcome.said)
    log[warningLevels.includes(level) ? 'warn' : 'info']('an inspection rule says', { ...facts, level, msg });
  log.info('inspection rules ran', { ...facts, rules: outcome.ran });
};
