/** Parameters of a runbook on the command line: `--param name=value`. */
import { stop } from '../faults';

/** Valid JSON is parsed; anything else is a text. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** Throws CliFault (usage) for a missing or duplicate name. */
export const parametersOf = (given: readonly string[]): Record<string, unknown> => {
  const values = new Map<string, unknown>();
  for (const one of given) {
    const [, name, text] = /^([^=]+)=(.*)$/s.exec(one) ?? stop('usage', `--param ${one}: it must be name=value.`);
    if (values.has(name!)) stop('usage', `--param ${name} comes twice.`);
    values.set(name!, parsed(text!));
  }
  return Object.fromEntries(values);
};
