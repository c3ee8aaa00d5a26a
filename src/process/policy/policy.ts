/** The policy in force: a rule set and the operator's files, reloaded after changes. */
import type { PolicyLoad } from '../../model/access/policy-loads';
import { sha256Of } from '../../model/digests';
import { isTemperError } from '../../model/errors';
import type { Logger } from '../../observe/log';
import {
  createPolicy,
  membersWith,
  type Policy,
  type PolicyOptions,
  policyDigest,
  type RuleSetName,
  reviewOf,
} from '../../policy';
import { ConfigFault } from '../settings/fault';
import {
  type PolicyPlaces,
  readTexts,
  requireKept,
  rulesIn,
  sourceOf,
  type Texts,
  UnreadablePolicy,
} from './policy-files';

const lookEveryMs = 2_000;

/** By file path. */
type RuleCounts = ReadonlyMap<string, number>;

export type PolicyRest = Pick<PolicyOptions, 'mode' | 'newDefaults' | 'elevatedServiceProject' | 'remote'>;

export type Watching = {
  readonly log: Logger;
  readonly onLoad: () => void;
  /** True if the current files are not in force. */
  readonly onStale?: (stale: boolean) => void;
  readonly counted?: (policy: Policy) => Policy;
  /** Called for each load, also at start and if refused. */
  readonly record?: (load: PolicyLoad) => void;
  readonly setting?: string;
};

export type PolicyHolder = {
  readonly now: () => Policy;
  readonly fault: () => string | null;
  readonly close: () => void;
};

/** A ConfigFault for invalid files; other errors are returned unchanged. */
const filesFault = (setting: string, where: string, thrown: unknown): unknown => {
  const reason = thrown instanceof UnreadablePolicy && thrown.message;
  const rules = isTemperError(thrown, 'PolicyInvalid') && String(thrown.facts.reason);
  if (!reason && !rules) return thrown;
  return new ConfigFault([`${setting}: ${where} cannot be used; mend it, or name another file:\n${reason || rules}`]);
};

const placesText = ({ file, folders = [] }: PolicyPlaces): string => [...(file ? [file] : []), ...folders].join(', ');

const placesOf = (given: string | PolicyPlaces | undefined): PolicyPlaces =>
  typeof given === 'string' ? { file: given } : (given ?? {});

/** Equal fingerprints mean equal contents. */
type FilesRead = { readonly fingerprint: string } & ({ readonly texts: Texts } | { readonly thrown: unknown });

// By content, not mtime: rewriting the same text is no change.
const readPolicy = (places: PolicyPlaces): FilesRead => {
  try {
    const texts = readTexts(places);
    return { texts, fingerprint: policyDigest(JSON.stringify(texts.files.map(({ path, text }) => [path, text]))) };
  } catch (thrown) {
    return { thrown, fingerprint: String((thrown as Error).message) };
  }
};

/** A change counts after two equal reads in a row: a file may be half written. */
const watch = (places: PolicyPlaces, first: string, take: (found: FilesRead) => void): (() => void) => {
  if (placesText(places) === '') return () => {};
  let taken = first;
  let seen = first;
  const look = setInterval(() => {
    const found = readPolicy(places);
    const settled = found.fingerprint === seen;
    seen = found.fingerprint;
    if (!settled || found.fingerprint === taken) return;
    taken = found.fingerprint;
    take(found);
  }, lookEveryMs);
  look.unref();
  return () => clearInterval(look);
};

type Loaded = { readonly policy: Policy; readonly rules: RuleCounts };

const loadedFiles = (texts: Texts | undefined, rules?: RuleCounts): PolicyLoad['files'] =>
  (texts?.files ?? []).map((file) => ({ ...file, sha256: sha256Of(file.text), rules: rules?.get(file.path) ?? null }));

/**
 * @param given a file, or a file and folders
 * @throws ConfigFault if the files are invalid at start. Later faults go to log, health and metrics, and the old
 * rules stay
 */
export const holdPolicy = (
  set: RuleSetName,
  given: string | PolicyPlaces | undefined,
  { log, onLoad, onStale, counted = (policy) => policy, record, setting = 'TEMPER_POLICY_FILE' }: Watching,
  rest: PolicyRest = {},
): PolicyHolder => {
  const places = placesOf(given);
  const mode = rest.mode ?? 'strict';
  const compile = (found: FilesRead, known?: RuleCounts): Loaded => {
    try {
      if ('thrown' in found) throw found.thrown;
      const rules = rulesIn(found.texts);
      if (known) requireKept(known, rules);
      const policy = createPolicy({ set, ...rest, ...sourceOf(found.texts) });
      for (const path of found.texts.passed) log.warn('no policy file by its name, passed over', { file: path });
      return { policy, rules };
    } catch (thrown) {
      throw filesFault(setting, placesText(places), thrown);
    }
  };
  const load = (found: FilesRead, known?: RuleCounts): Loaded => {
    const loaded = compile(found, known);
    const { policy, rules } = loaded;
    for (const warning of [...policy.warnings, ...reviewOf(policy, membersWith([]))]) log.warn('policy', { warning });
    const file = placesText(places);
    const empty = [...rules].filter(([, count]) => count === 0).map(([path]) => path);
    if (empty.length > 0) log.warn('a policy file holds no rules', { file: empty.join(', ') });
    log.info('policy loaded', { set, hash: policy.hash, ...(file && { file }) });
    const texts = 'texts' in found ? found.texts : undefined;
    record?.({ at: new Date(), set, mode, rule_set: policy.hash, reason: null, files: loadedFiles(texts, rules) });
    onLoad();
    onStale?.(false);
    return loaded;
  };
  const first = readPolicy(places);
  let loaded = load(first);
  let current = counted(loaded.policy);
  let fault: string | null = null;
  const reload = (found: FilesRead) => {
    try {
      loaded = load(found, loaded.rules);
      current = counted(loaded.policy);
      fault = null;
    } catch (error) {
      const reason = (error as Error).message;
      fault = `policy file not loaded, the old rules stay in force: ${reason}`;
      const texts = 'texts' in found ? found.texts : undefined;
      record?.({ at: new Date(), set, mode, rule_set: null, reason, files: loadedFiles(texts) });
      onStale?.(true);
      log.error('policy file not loaded, the old rules stay in force', { error });
    }
  };
  return { now: () => current, fault: () => fault, close: watch(places, first.fingerprint, reload) };
};
