/** The words a product's rules may use: what callers carry and what targets hold. Anything else is a slip of the pen. */

import { credentialKeys, serviceProjectKey } from '../engine/credentials';
import { targetKeys } from '../engine/targets';

export type Vocabulary = {
  /** Credentials by name, and what each holds. */
  readonly credentials: Readonly<Record<string, 'text' | 'boolean' | 'list'>>;
  /** Keys of objects, as a message names them. */
  readonly targets: readonly string[];
  /** Whether some target can have this key; every target carries the caller's own credentials too. */
  isKey(key: string): boolean;
};

/** The words of this product. */
export const vocabulary: Vocabulary = {
  credentials: credentialKeys,
  targets: Object.keys(targetKeys),
  isKey: (key) => Object.hasOwn(targetKeys, key) || Object.hasOwn(credentialKeys, key) || key === serviceProjectKey,
};
