/** Reads a process's settings and reports all faults at once. */
import type { z } from 'zod';
import { nearest } from '../../model/nearest';
import { processes } from './config';
import { ConfigFault, configStatus, printFaults } from './fault';
import { givenByFile, withFiles } from './from-files';

const sentence = (message: string): string =>
  message.startsWith('Invalid option: expected one of ')
    ? `must be one of ${[...message.matchAll(/"([^"]*)"/g)].map((found) => found[1]).join(', ')}`
    : message;

/** For the command, set-up and compose. */
const elsewhere: readonly string[] = [
  'TEMPER_URL', 'TEMPER_TOKEN', 'TEMPER_USERNAME', 'TEMPER_PASSWORD', 'TEMPER_OIDC_ISSUER', 'TEMPER_OIDC_CLIENT_ID', 'TEMPER_OIDC_CLIENT_SECRET', 'TEMPER_OIDC_SCOPE', 'TEMPER_OIDC_RESOURCE', 'TEMPER_VERSION', 'TEMPER_DATA_DIR', 'TEMPER_SYSTEM_FILE',
  'TEMPER_API_PUBLISH', 'TEMPER_BOOT_PUBLISH', 'TEMPER_CONSOLE_PUBLISH', 'TEMPER_BOOT_IMAGES_DIR', 'TEMPER_API_PUBLIC_URL', 'TEMPER_DB_OWNER_PASSWORD', 'TEMPER_FILES_DIR', 'TEMPER_PYTHON', 'TEMPER_DEBIAN_MIRROR',
  'TEMPER_CONDUCTOR_GROUPS', 'TEMPER_IDENTITY_PORT', 'TEMPER_TEMPORAL_PORT', 'TEMPER_TEMPORAL_UI_PORT', 'TEMPER_TEMPORAL_SOURCES',
  'TEMPER_POSTGRES_OS_USER', 'TEMPER_MUTATION_TESTS',
]; // biome-ignore format: one row of names

// Compared without it, because all names start with it.
const prefix = 'TEMPER_';

// Development and test programs have their own schemas.
const others = /^TEMPER_(RACK|DEMO|TEST)_/;

/**
 * A misspelled setting would silently keep its default. Names unlike any setting are ignored: container schedulers
 * add their own.
 */
const misspelledIn = (given: Readonly<Record<string, unknown>>, schema: z.ZodObject): string[] => {
  const ofProcesses = [...Object.values(processes), schema].flatMap(({ shape }) => Object.keys(shape));
  const known = [...ofProcesses, ...elsewhere];
  // Only processes read settings from files: TEMPER_TOKEN_FILE is no file of the command's token.
  const readsFile = (name: string): boolean => ofProcesses.includes(name);
  return Object.keys(given)
    .filter((name) => !known.includes(name) && givenByFile(name, readsFile) === undefined && !others.test(name))
    .flatMap((name) => {
      const near = nearest(
        name.slice(prefix.length),
        known.map((one) => one.slice(prefix.length)),
      );
      return near === undefined ? [] : [`${name} is no setting. Did you mean ${prefix}${near}?`];
    });
};

/** @throws ConfigFault with all missing or invalid settings, without values that may be secret */
export const parseSettings = <Schema extends z.ZodObject>(schema: Schema, env: NodeJS.ProcessEnv): z.infer<Schema> => {
  // Empty means unset, as in compose files.
  const present = Object.fromEntries(
    Object.entries(env).filter(
      ([key, value]) => key.startsWith('TEMPER_') && (value !== '' || key === 'TEMPER_CONDUCTOR_GROUP'),
    ),
  );
  const { given, faults: unread } = withFiles(present, (name) => Object.hasOwn(schema.shape, name));
  const read = schema.safeParse(given);
  const misspelled = misspelledIn(given, schema);
  if (read.success && misspelled.length === 0 && Object.keys(unread).length === 0) return read.data;
  const shape: Readonly<Record<string, z.ZodType>> = schema.shape;
  const faults = (read.error?.issues ?? []).map(({ path, message }) => {
    const key = String(path[0]);
    if (unread[key] !== undefined) return unread[key];
    return `${key} ${given[key] === undefined ? 'is not set' : sentence(message)}. ${shape[key]?.description ?? ''}`.trimEnd();
  });
  throw new ConfigFault([...new Set([...Object.values(unread), ...faults]), ...misspelled]);
};

/** Prints faults and exits with status 78. */
export const settingsOrEnd = <Schema extends z.ZodObject>(process_name: string, schema: Schema): z.infer<Schema> => {
  try {
    return parseSettings(schema, process.env);
  } catch (thrown) {
    if (!(thrown instanceof ConfigFault)) throw thrown;
    printFaults(process_name, thrown);
    return process.exit(configStatus);
  }
};

/** Exits like `settingsOrEnd`. */
export const readConfig = <Name extends keyof typeof processes>(name: Name): z.infer<(typeof processes)[Name]> =>
  settingsOrEnd(name, processes[name] as z.ZodObject) as z.infer<(typeof processes)[Name]>;
