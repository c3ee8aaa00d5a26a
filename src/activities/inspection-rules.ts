/** Inspection rules on what an inspection has found, in the transaction that takes it in: all of it, or nothing. */

import { createContext, Script } from 'node:vm';
import type { Queries } from '../inventory';
import type { Fenced } from '../inventory/fence';
import { raise } from '../model/errors';
import type { Matching } from '../model/inspection/rule-conditions';
import { rulePhase, runRules } from '../model/inspection/rule-run';
import type { Log } from '../model/log';

/**
 * Milliseconds for one regular expression, and characters of the text that it is tried on: the findings are not trusted. The
 * time is a clock's, not the processor's, so that it has to leave room for a busy machine: at 100 ms inspections failed there.
 */
const patternLimitMs = 1_000;
const longestText = 4_096;

const trial = new Script('new RegExp(regex).test(text)');

/** Tries a regular expression within its time. Throws RangeError where it is none, or takes longer. */
export const matching: Matching = (regex, text) => {
  try {
    return trial.runInContext(createContext({ regex, text: text.slice(0, longestText) }), { timeout: patternLimitMs });
  } catch {
    throw new RangeError(`${regex.slice(0, 80)} is no regular expression, or takes too long`);
  }
};

const warningLevels = ['warning', 'error', 'critical'];

/** Runs the rules on the node that the lock holds. Throws InspectionRuleFailed, which fails the inspection. */
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
