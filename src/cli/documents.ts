/** Documents that people write for a command: JSON or YAML in a file. */
import { parse } from 'yaml';
import { stop } from './faults';
import type { CliDeps } from './hands';

/** The value in a file. Throws CliFault (usage) where there is no file, or it is neither JSON nor YAML. */
export const documentIn = (hands: Pick<CliDeps, 'readFile'>, path: string): unknown => {
  const text = hands.readFile(path) ?? stop('usage', `There is no file ${path}.`);
  try {
    return parse(text);
  } catch (thrown) {
    return stop('usage', `${path} is neither JSON nor YAML: ${(thrown as Error).message.split('\n')[0]}`);
  }
};

/** The list that a document is, or has under a key; undefined where it has none. */
export const listIn = (document: unknown, key: string): unknown[] | undefined => {
  const list = Array.isArray(document) ? document : (document as Record<string, unknown> | null)?.[key];
  return Array.isArray(list) ? list : undefined;
};
