/** Warnings about a stored runbook. They are in a header, so the body stays as in Ironic. */

import { requireStepOrigins } from '../../../admission/images';
import { readable, refuseDisallowed } from '../../../admission/steps';
import { planActs } from '../../../model/lifecycle/steps';
import { catalogueRows, checkRunbook, faultOf, type StepFault } from '../../../model/resources/runbook-check';
import { leavesOpen } from '../../../model/resources/runbook-parameters';
import { labelsOf, type RunbookStep } from '../../../model/resources/runbook-steps';
import type { ApiContext } from '../../context';

/** The installation's checks of a step, for any node. */
export const anywhere = (ctx: ApiContext, step: RunbookStep): StepFault[] => {
  // Rows of one step differ by driver, never by what they fetch.
  const [row] = catalogueRows(step);
  const planned = row
    ? [{ interface: step.interface, step: step.step, acts: planActs(row.acts), args: step.args }]
    : [];
  const disallowed = faultOf(() => refuseDisallowed(ctx, [step]));
  // The origin of an open URL is checked when a run is planned.
  return leavesOpen(step.args) ? disallowed : [...disallowed, ...faultOf(() => requireStepOrigins(ctx, planned))];
};

/** Maximum header length in characters; proxies limit all headers together to 8 KiB. */
const longestHeader = 4_000;

// Header text is Latin-1; other characters are escaped as in JSON.
const ascii = (text: string): string =>
  text.replace(/[^\x20-\x7e]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);

const asHeader = (texts: readonly string[]): string => {
  const whole = ascii(JSON.stringify(texts));
  return whole.length <= longestHeader || texts.length <= 1
    ? whole.slice(0, longestHeader)
    : asHeader(texts.slice(0, -1));
};

/** The header of a stored runbook: a JSON list of texts; absent without warnings. */
export const warningHeaders = (ctx: ApiContext, steps: readonly RunbookStep[]): Readonly<Record<string, string>> => {
  const readables = steps.map((step) => ({ ...step, args: readable(step.args) as RunbookStep['args'] }));
  const labels = labelsOf(steps);
  const texts = checkRunbook(readables, (step) => anywhere(ctx, step)).map(({ index, step, says }) =>
    index === null || (labels[index] === step && says.includes(step)) ? says : `Step ${labels[index]}: ${says}`,
  );
  return texts.length === 0 ? {} : { 'X-Temper-Warnings': asHeader(texts) };
};
