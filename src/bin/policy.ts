/** The rules in force: a built-in set and the operator's files, read again when they change. */
import { createHash } from 'node:crypto';
import { isTemperError } from '../model/errors';
import type { Logger } from '../observe/log';
import { createPolicy, membersWith, type Policy, type PolicyOptions, type RuleSetName, reviewOf } from '../policy';
import { ConfigFault } from './fault';
import { type PolicyPlaces, readTexts, sourceOf, type Texts, UnreadablePolicy } from './policy-files';

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);
const lookEveryMs = 2_000;

/** Options of the policy that no file holds. */
export type PolicyRest = Pick<PolicyOptions, 'mode' | 'newDefaults' | 'elevatedServiceProject' | 'remote'>;

/** What looks at every policy that comes into force. */
export type Watching = {
  readonly log: Logger;
  readonly onLoad: () => void;
  /** Told whether the files that lie there are not those in force. */
  readonly onStale?: (stale: boolean) => void;
  readonly counted?: (policy: Policy) => Policy;
  /** The setting that names the files, for messages. */
  readonly setting?: string;
};

export type PolicyHolder = {
  readonly now: () => Policy;
  readonly fault: () => string | null;
  readonly close: () => void;
};

/** What is wrong with the files, told by their setting; any other error comes back as it is. */
const filesFault = (setting: string, where: string, thrown: unknown): unknown => {
  const reason = thrown instanceof UnreadablePolicy && thrown.message;
  const rules = isTemperError(thrown, 'PolicyInvalid') && String(thrown.facts.reason);
  if (!reason && !rules) return thrown;
  return new ConfigFault([`${setting}: ${where} cannot be used; mend it, or name another file:\n${reason || rules}`]);
};

const placesText = ({ file, folders = [] }: PolicyPlaces): string => [...(file ? [file] : []), ...folders].join(', ');

const placesOf = (given: string | PolicyPlaces | undefined): PolicyPlaces =>
  typeof given === 'string' ? { file: given } : (given ?? {});

/** Looks again and again whether what lies there is still what was loaded, by content and not by its time. */
const watch = (places: PolicyPlaces, loaded: () => string, reload: () => void): (() => void) => {
  if (placesText(places) === '') return () => {};
  let seen = loaded();
  const look = setInterval(() => {
    const now = fingerprint(places);
    if (now === seen) return;
    seen = now;
    reload();
  }, lookEveryMs);
  look.unref();
  return () => clearInterval(look);
};

const textsFingerprint = ({ files }: Texts): string => digest(JSON.stringify(files));

const fingerprint = (places: PolicyPlaces): string => {
  try {
    return textsFingerprint(readTexts(places));
  } catch (thrown) {
    return String((thrown as Error).message);
  }
};

/**
 * @param given a file, or a file and folders
 * @throws ConfigFault when the files cannot be used at start; later the old rules stay in force and the fault is told by
 *   log, health and metrics
 */
export const holdPolicy = (
  set: RuleSetName,
  given: string | PolicyPlaces | undefined,
  { log, onLoad, onStale, counted = (policy) => policy, setting = 'TEMPER_POLICY_FILE' }: Watching,
  rest: PolicyRest = {},
): PolicyHolder => {
  const places = placesOf(given);
  let loaded = '';
  const compile = (): Policy => {
    try {
      const texts = readTexts(places);
      const policy = createPolicy({ set, digest, ...rest, ...sourceOf(texts) });
      for (const path of texts.passed) log.warn('no policy file by its name, passed over', { file: path });
      loaded = textsFingerprint(texts);
      return policy;
    } catch (thrown) {
      throw filesFault(setting, placesText(places), thrown);
    }
  };
  const load = (): Policy => {
    const policy = compile();
    for (const warning of [...policy.warnings, ...reviewOf(policy, membersWith([]))]) log.warn('policy', { warning });
    const file = placesText(places);
    log.info('policy loaded', { set, hash: policy.hash, ...(file && { file }) });
    onLoad();
    onStale?.(false);
    return counted(policy);
  };
  let current = load();
  let fault: string | null = null;
  const reload = () => {
    try {
      current = load();
      fault = null;
    } catch (error) {
      fault = `policy file not loaded, the old rules stay in force: ${(error as Error).message}`;
      onStale?.(true);
      log.error('policy file not loaded, the old rules stay in force', { error });
    }
  };
  return { now: () => current, fault: () => fault, close: watch(places, () => loaded, reload) };
};
