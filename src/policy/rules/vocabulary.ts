/** Words that Temper's rules may use; any other word is a typing mistake. */

import { credentialKeys, serviceProjectKey } from '../engine/credentials';
import { targetKeys } from '../engine/targets';

export type Vocabulary = {
  /** Credentials with their types. */
  readonly credentials: Readonly<Record<string, 'text' | 'boolean' | 'list'>>;
  /** Keys of objects, as messages name them. */
  readonly targets: readonly string[];
  /** Every target also holds the caller's credentials. */
  isKey(key: string): boolean;
};

export const vocabulary: Vocabulary = {
  credentials: credentialKeys,
  targets: Object.keys(targetKeys),
  isKey: (key) => Object.hasOwn(targetKeys, key) || Object.hasOwn(credentialKeys, key) || key === serviceProjectKey,
};
