/** What a runbook's maker should know although it is stored: in a header, so that the body stays the original's. */

import { planActs } from '../../../model/lifecycle/steps';
import { catalogueRows, checkRunbook, faultOf, type StepFault } from '../../../model/resources/runbook-check';
import { leavesOpen } from '../../../model/resources/runbook-parameters';
import { labelsOf, type RunbookStep } from '../../../model/resources/runbook-steps';
import type { ApiContext } from '../../context';
import { requireStepOrigins } from '../../orders/origins';
import { readable, refuseDisallowed } from '../../orders/steps';

/** What the installation allows of a step, whatever node it runs on. */
export const anywhere = (ctx: ApiContext, step: RunbookStep): StepFault[] => {
  // Rows of one step differ by driver, never by what they fetch.
  const [row] = catalogueRows(step);
  const planned = row
    ? [{ interface: step.interface, step: step.step, acts: planActs(row.acts), args: step.args }]
    : [];
  const disallowed = faultOf(() => refuseDisallowed(ctx, [step]));
  // Where a URL is left open, its origin is held against the settings as a run is planned.
  return leavesOpen(step.args) ? disallowed : [...disallowed, ...faultOf(() => requireStepOrigins(ctx, planned))];
};

/** Characters of the header at most; a proxy's own limit for all headers together is 8 KiB. */
const longestHeader = 4_000;

// A header's text is Latin-1 at most; what lies beyond is written as JSON writes it.
const ascii = (text: string): string =>
  text.replace(/[^\x20-\x7e]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);

const asHeader = (texts: readonly string[]): string => {
  const whole = ascii(JSON.stringify(texts));
  return whole.length <= longestHeader || texts.length <= 1
    ? whole.slice(0, longestHeader)
    : asHeader(texts.slice(0, -1));
};

/** The header of a runbook that was stored: a JSON list of texts; no header where nothing is to be said. */
export const warningHeaders = (ctx: ApiContext, steps: readonly RunbookStep[]): Readonly<Record<string, string>> => {
  const readables = steps.map((step) => ({ ...step, args: readable(step.args) as RunbookStep['args'] }));
  const labels = labelsOf(steps);
  const texts = checkRunbook(readables, (step) => anywhere(ctx, step)).map(({ index, step, says }) =>
    index === null || (labels[index] === step && says.includes(step)) ? says : `Step ${labels[index]}: ${says}`,
  );
  return texts.length === 0 ? {} : { 'X-Temper-Warnings': asHeader(texts) };
};
