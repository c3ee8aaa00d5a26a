/** Reads the settings of a process once, at its start, and reports all faults together. */
import type { z } from 'zod';
import { nearest } from '../../model/nearest';
import { processes } from './config';
import { ConfigFault, configStatus, printFaults } from './fault';

// The schema's own words for a value that is none of several.
const sentence = (message: string): string =>
  message.startsWith('Invalid option: expected one of ')
    ? `must be one of ${[...message.matchAll(/"([^"]*)"/g)].map((found) => found[1]).join(', ')}`
    : message;

/** Names that no schema of a process has, and that are meant for others: the command, set-up, compose. */
const elsewhere: readonly string[] = [
  'TEMPER_URL', 'TEMPER_TOKEN', 'TEMPER_USERNAME', 'TEMPER_PASSWORD', 'TEMPER_VERSION', 'TEMPER_DATA_DIR', 'TEMPER_SYSTEM_FILE',
  'TEMPER_API_PUBLISH', 'TEMPER_BOOT_PUBLISH', 'TEMPER_CONSOLE_PUBLISH', 'TEMPER_BOOT_IMAGES_DIR', 'TEMPER_API_PUBLIC_URL', 'TEMPER_DB_OWNER_PASSWORD', 'TEMPER_FILES_DIR', 'TEMPER_PYTHON', 'TEMPER_DEBIAN_MIRROR',
  'TEMPER_CONDUCTOR_GROUPS', 'TEMPER_IDENTITY_PORT', 'TEMPER_TEMPORAL_PORT', 'TEMPER_TEMPORAL_UI_PORT', 'TEMPER_TEMPORAL_SOURCES',
  'TEMPER_POSTGRES_OS_USER', 'TEMPER_MUTATION_TESTS',
]; // biome-ignore format: one row of names

// All names begin so, which would make any two of them near.
const prefix = 'TEMPER_';

// Of programs that only development and tests start; each has a schema of its own.
const others = /^TEMPER_(RACK|DEMO|TEST)_/;

/**
 * Settings that no process has and that are near the name of one: what they were to set would be left at its default in
 * silence. Names that are near none are left alone; schedulers of containers put names of their own into the environment.
 */
const misspelledIn = (given: Readonly<Record<string, unknown>>, schema: z.ZodObject): string[] => {
  const known = [
    ...Object.values(processes).flatMap(({ shape }) => Object.keys(shape)),
    ...elsewhere,
    ...Object.keys(schema.shape),
  ];
  return Object.keys(given)
    .filter((name) => !known.includes(name) && !others.test(name))
    .flatMap((name) => {
      const near = nearest(
        name.slice(prefix.length),
        known.map((one) => one.slice(prefix.length)),
      );
      return near === undefined ? [] : [`${name} is no setting. Did you mean ${prefix}${near}?`];
    });
};

/**
 * The settings as a schema wants them.
 * @throws ConfigFault naming every setting that is missing or wrong; values that may be secret are not repeated
 */
export const parseSettings = <Schema extends z.ZodObject>(schema: Schema, env: NodeJS.ProcessEnv): z.infer<Schema> => {
  // An empty variable means the same as none, as it does in compose files.
  const given = Object.fromEntries(
    Object.entries(env).filter(
      ([key, value]) => key.startsWith('TEMPER_') && (value !== '' || key === 'TEMPER_CONDUCTOR_GROUP'),
    ),
  );
  const read = schema.safeParse(given);
  const misspelled = misspelledIn(given, schema);
  if (read.success && misspelled.length === 0) return read.data;
  const shape: Readonly<Record<string, z.ZodType>> = schema.shape;
  const faults = (read.error?.issues ?? []).map(({ path, message }) => {
    const key = String(path[0]);
    return `${key} ${given[key] === undefined ? 'is not set' : sentence(message)}. ${shape[key]?.description ?? ''}`.trimEnd();
  });
  throw new ConfigFault([...new Set(faults), ...misspelled]);
};

/** The settings of a process; without them it says everything that is wrong and ends with status 78. */
export const settingsOrEnd = <Schema extends z.ZodObject>(process_name: string, schema: Schema): z.infer<Schema> => {
  try {
    return parseSettings(schema, process.env);
  } catch (thrown) {
    if (!(thrown instanceof ConfigFault)) throw thrown;
    printFaults(process_name, thrown);
    return process.exit(configStatus);
  }
};

/** Reads the settings of one process of the product, or ends as `settingsOrEnd` does. */
export const readConfig = <Name extends keyof typeof processes>(name: Name): z.infer<(typeof processes)[Name]> =>
  settingsOrEnd(name, processes[name] as z.ZodObject) as z.infer<(typeof processes)[Name]>;
