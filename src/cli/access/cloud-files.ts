/** Reads a cloud of clouds.yaml and secure.yaml, from the paths of openstacksdk. */
import { join } from 'node:path';
import { parse } from 'yaml';
import { asDocument, type Document, isDocument } from '../../model/document';
import type { CliDeps } from '../deps';
import { stop } from '../faults';

const places = (home: string, name: string): string[] => [
  name,
  join(home, '.config', 'openstack', name),
  join('/etc/openstack', name),
];

const cloudFiles = ({ env, home }: CliDeps): string[] =>
  env.OS_CLIENT_CONFIG_FILE ? [env.OS_CLIENT_CONFIG_FILE] : places(home, 'clouds.yaml');

/** These paths apply even if OS_CLIENT_CONFIG_FILE names clouds.yaml, as in openstacksdk. */
const secureFiles = ({ env, home }: CliDeps): string[] => [
  ...(env.OS_CLIENT_SECURE_FILE ? [env.OS_CLIENT_SECURE_FILE] : []),
  ...places(home, 'secure.yaml'),
];

const firstOf = (deps: CliDeps, files: readonly string[]): string | undefined =>
  files.find((path) => deps.readFile(path) !== undefined);

/** As in openstacksdk, skips an unreadable file, unless the caller named it. */
const firstSecure = (deps: CliDeps): string | undefined =>
  secureFiles(deps).find((path) => {
    try {
      return deps.readFile(path) !== undefined;
    } catch (thrown) {
      if (path === deps.env.OS_CLIENT_SECURE_FILE) throw thrown;
      return false;
    }
  });

const cloudsIn = (deps: CliDeps, file: string): Document => {
  try {
    return asDocument(asDocument(parse(deps.readFile(file)!)).clouds);
  } catch {
    return stop('usage', `${file} is not valid YAML.`); // the parser's message would quote passwords
  }
};

/** As in openstacksdk: objects by key; for other values the second wins. */
const merged = (first: Document, second: Document): Document =>
  Object.fromEntries([
    ...Object.entries(first),
    ...Object.entries(second).map(([key, value]) => {
      const before = Object.hasOwn(first, key) ? first[key] : undefined;
      return [key, isDocument(value) && isDocument(before) ? merged(before, value) : value] as const;
    }),
  ]);

/** Throws CliFault (usage) if there is no such cloud. */
export const cloudOfFiles = (deps: CliDeps, name: string): Document => {
  const files = cloudFiles(deps);
  const file = firstOf(deps, files) ?? stop('usage', `Cloud ${name}: there is no ${files.join(' and no ')}.`);
  const secure = firstSecure(deps);
  const clouds = merged(cloudsIn(deps, file), secure === undefined ? {} : cloudsIn(deps, secure));
  const cloud = Object.hasOwn(clouds, name) ? clouds[name] : undefined;
  if (isDocument(cloud)) return cloud;
  return stop('usage', `${file} has no cloud ${name}; it has ${Object.keys(clouds).join(', ') || 'none'}.`);
};
