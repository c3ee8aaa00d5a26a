/** Policy of a command: a set, files over a set, or the environment's settings. */

import { isTemperError } from '../../model/errors';
import { namesInList } from '../../model/texts';
import {
  createPolicy,
  joinSources,
  type Mode,
  type Policy,
  type PolicySource,
  policyFilesAmong,
  type RuleSetName,
  readPolicy,
} from '../../policy';
import type { CliDeps } from '../deps';
import { stop } from '../faults';

const sets: readonly string[] = ['temper', 'ironic', 'closed'] satisfies RuleSetName[];
const modes: readonly string[] = ['strict', 'compat'] satisfies Mode[];

export type Chosen = { readonly set?: string; readonly mode?: string };

export type NamedPolicy = PolicySource & {
  readonly name: string;
  readonly set: RuleSetName;
  readonly mode: Mode;
  readonly policy: Policy;
  /** Files in its folders that are no policy files. */
  readonly passed: readonly string[];
};

const oneOf = <Name extends string>(what: string, known: readonly string[], given: string): Name =>
  known.includes(given) ? (given as Name) : stop('usage', `${what} must be ${known.join(', ')}; ${given} came.`);

export const modeOf = ({ env }: CliDeps, { mode }: Chosen): Mode =>
  oneOf('--mode', modes, mode ?? env.TEMPER_POLICY_MODE ?? 'strict');

export const setOf = ({ env }: CliDeps, { set }: Chosen): RuleSetName =>
  oneOf('--set', sets, set ?? env.TEMPER_POLICY_SET ?? 'temper');

const readText = ({ readFile }: CliDeps, file: string): string =>
  readFile(file) ?? stop('usage', `There is no file ${file}.`);

/** Turns PolicyInvalid into a CliFault (refused) with all faults. */
const orStop = <T>(work: () => T): T => {
  try {
    return work();
  } catch (thrown) {
    if (isTemperError(thrown, 'PolicyInvalid'))
      return stop('refused', `The policy cannot be used:\n${thrown.facts.reason}`);
    throw thrown;
  }
};

/** A file, or a folder's files that the API would read. Throws CliFault for an empty folder. */
export const filesOf = (deps: CliDeps, name: string): { files: string[]; passed: string[] } => {
  const names = deps.filesIn(name);
  if (names === undefined) return { files: [name], passed: [] };
  const { taken, passed } = policyFilesAmong(names);
  if (taken.length === 0) return stop('usage', `Folder ${name} holds no *.yaml, *.yml or *.json.`);
  const within = (file: string) => `${name.replace(/\/+$/, '')}/${file}`;
  return { files: taken.map(within), passed: passed.map(within) };
};

/** Throws PolicyInvalid, and CliFault for a missing file. */
const readFiles = (deps: CliDeps, list: string): PolicySource & { readonly passed: readonly string[] } => {
  const found = namesInList(list).map((name) => filesOf(deps, name));
  const files = found.flatMap((one) => one.files);
  return {
    ...joinSources(files.map((file) => readPolicy(readText(deps, file), file))),
    passed: found.flatMap(({ passed }) => passed),
  };
};

/** Files that an API with this environment reads; undefined if none. */
const configured = ({ env }: CliDeps): string | undefined =>
  [env.TEMPER_POLICY_FILE, env.TEMPER_POLICY_DIRS].filter(Boolean).join(',') || undefined;

/** Parses `SET`, `FILES` or `SET:FILES`. */
const setAndFiles = (deps: CliDeps, given: string, chosen: Chosen): { set: RuleSetName; files: string } => {
  if (sets.includes(given)) return { set: given as RuleSetName, files: '' };
  const [before = '', ...rest] = given.split(':');
  if (rest.length > 0 && sets.includes(before)) return { set: before as RuleSetName, files: rest.join(':') };
  return { set: setOf(deps, chosen), files: given };
};

/**
 * By default the policy of TEMPER_POLICY_SET, TEMPER_POLICY_FILE and TEMPER_POLICY_DIRS. Throws CliFault: no such file
 * (usage), an unusable file (refused).
 */
export const policyOf = (deps: CliDeps, given: string | undefined, chosen: Chosen): NamedPolicy => {
  const named = given ?? (chosen.set === undefined ? configured(deps) : undefined) ?? setOf(deps, chosen);
  const { set, files } = setAndFiles(deps, named, chosen);
  const mode = modeOf(deps, chosen);
  return orStop(() => {
    const source = readFiles(deps, files);
    return { ...source, name: named, set, mode, policy: createPolicy({ set, mode, ...source }) };
  });
};
