/** Values of a runbook's parameters on the command line: `--param name=value`. */
import { stop } from './faults';

/** Gathers an option that may come several times. */
export const collect = (one: string, before: readonly string[] = []): string[] => [...before, one];

/** What is JSON is taken as such (numbers, true, lists, objects, a text in quotes), all else as a text. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** The values by name. Throws CliFault (usage) where one has no name, or comes twice. */
export const parametersOf = (given: readonly string[]): Record<string, unknown> => {
  const values = new Map<string, unknown>();
  for (const one of given) {
    const [, name, text] = /^([^=]+)=(.*)$/s.exec(one) ?? stop('usage', `--param ${one}: it must be name=value.`);
    if (values.has(name!)) stop('usage', `--param ${name} comes twice.`);
    values.set(name!, parsed(text!));
  }
  return Object.fromEntries(values);
};
